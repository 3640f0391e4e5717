#include "context/context.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/tokens.h"
#include "context/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BUDGET_TOKENS = 16000, ORDERED_ITEMS = 24, SHORT_BYTES = 48, SHORT_STEPS = 16 };
#define COLD_SHARE 0.25
/* Of what SYSTEM, FACTS and TASK leave, an epoch keeps this much for HOT to grow into. */
#define RESERVE_SHARE 0.25

static const char *task_section(const struct task *task, struct arena *arena)
{
    struct buf text = {0};
    (void)buf_printf(&text, "## Task: %s (%s, %s)\n\n%s\n\n", task->name, task->family,
                     dtype_name(task->dtype), task->summary);
    (void)buf_printf(&text, "Entry point: `%s`\n", task_signature(task, "real", arena));
    if (task_is_in_place(task))
        (void)buf_printf(&text, "In place: %s.\n", task_alias_text(task, arena));
    (void)buf_printf(&text, "`real` is %s", dtype_c_name(task->dtype));
    if (task->accumulate != task->dtype)
        (void)buf_printf(&text, ", `real_acc` %s; convert with real_load(x) and real_store(v)",
                         dtype_c_name(task->accumulate));
    if (dtype_is_half(task->dtype))
        (void)buf_append_str(&text, "; it is a struct { uint16_t bits; }, for storage only");
    (void)buf_printf(&text, ". Precision class %s; %s.\n", precision_class_name(task->precision),
                     task->finite_only ? "inputs are finite"
                                       : "NaN and infinity must propagate as in the reference");
    (void)buf_printf(&text, "Shapes judged:");
    for (size_t i = 0; i < task->case_count; i++) {
        if (!task->cases[i].held_out)
            (void)buf_printf(&text, " [%s]", task->cases[i].name);
    }
    (void)buf_printf(&text, " and others that are not shown.\n\nReference:\n```c\n%s\n```\n\n",
                     task->reference);
    const char *copy = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

const char *context_path_line(const struct graph_decision *d, struct arena *arena)
{
    if (!d->has_outcome)
        return arena_printf(arena, "- %s: not judged\n", d->intent);
    if (d->kind != VERDICT_TIMED)
        return arena_printf(arena, "- %s: %s (%s): %.400s\n", d->intent, verdict_kind_name(d->kind),
                            d->mechanism, d->evidence);
    return arena_printf(arena, "- %s: log-ratio %.3f [%.3f, %.3f]\n", d->intent, d->log_ratio,
                        d->log_low, d->log_high);
}

/* A step of the path in a few words. */
static const char *step_in_short(const struct graph_decision *d, struct arena *arena)
{
    const char *what = d->moves[0] != '\0' ? d->moves : d->intent;
    if (!d->has_outcome || d->kind != VERDICT_TIMED)
        return arena_printf(arena, "%.*s: %s", SHORT_BYTES, what,
                            d->has_outcome ? verdict_kind_name(d->kind) : "not judged");
    return arena_printf(arena, "%.*s: %.2fx", SHORT_BYTES, what, exp(d->log_ratio));
}

/* What came before the lines that are shown one by one: said by somebody, or a few words a step,
 * the latest of them. */
static const char *earlier_path(const struct context_request *request, size_t first,
                                struct arena *arena)
{
    if (request->path_summary && request->path_summary[0] != '\0')
        return request->path_summary;
    const size_t from = first > SHORT_STEPS ? first - SHORT_STEPS : 0;
    struct buf text = {0};
    if (from != 0)
        (void)buf_printf(&text, "%zu steps; then ", from);
    for (size_t i = from; i < first; i++)
        (void)buf_printf(&text, "%s%s", i == from ? "" : "; ",
                         step_in_short(&request->path[i], arena));
    const char *copy = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

static const char *hot_section(const struct context_request *request, struct arena *arena)
{
    struct buf text = {0};
    (void)buf_append_str(&text, "\n## Now\n\n");
    if (request->current_source)
        (void)buf_printf(&text, "Current best (%s):\n```c\n%s\n```\n\n",
                         request->current_summary ? request->current_summary : "",
                         request->current_source);
    const size_t lines = CONTEXT_PATH_LINES;
    const size_t first = request->path_count > lines ? request->path_count - lines : 0;
    if (first != 0)
        (void)buf_printf(&text, "Earlier on this path, in short:\n%s\n\n",
                         earlier_path(request, first, arena));
    if (request->path_count != 0)
        (void)buf_append_str(&text, "Last outcomes on this path:\n");
    for (size_t i = first; i < request->path_count; i++)
        (void)buf_append_str(&text, context_path_line(&request->path[i], arena));
    if (request->finding && request->finding[0] != '\0')
        (void)buf_printf(&text, "\nProfile: %s\n", request->finding);
    if (request->findings && request->findings[0] != '\0')
        (void)buf_printf(&text, "\nWhat tools found, with the moves that answer it:\n%s",
                         request->findings);
    (void)buf_printf(&text, "\n%s\n", request->ask ? request->ask : "Propose the next candidate.");
    const char *copy = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

/* Broader knowledge comes as paragraphs between blank lines; each is an item. */
static void split_cold(const char *cold, struct arena *arena, struct entries *out)
{
    while (cold && *cold != '\0') {
        const char *end = strstr(cold, "\n\n");
        const size_t length = end ? (size_t)(end - cold) : strlen(cold);
        if (length != 0) {
            const char *text = arena_printf(arena, "%.*s\n\n", (int)length, cold);
            (void)entries_add(out, "cold", "knowledge",
                              arena_strndup(arena, cold, length < 24 ? length : 24), text);
        }
        cold = end ? end + 2 : NULL;
    }
}

static int64_t choose_cold(struct entries *cold, int64_t tokens)
{
    int64_t used = 0;
    for (size_t i = 0; i < cold->count; i++) {
        struct entry *entry = &cold->items[i];
        entry->is_chosen = entry->item.tokens <= tokens - used;
        if (entry->is_chosen)
            used += entry->item.tokens;
    }
    return used;
}

#define COLD_TITLE "## Knowledge\n\n"
#define WARM_TITLE "## Experience: what was tried elsewhere, and what came of it\n\n"

static int by_score(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    if (x->item.score != y->item.score)
        return x->item.score > y->item.score ? -1 : 1;
    return strcmp(x->item.ref, y->item.ref);
}

static bool any_shown(const struct context_item *items, size_t count, const char *section)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(items[i].section, section) && !items[i].withheld)
            return true;
    }
    return false;
}

static size_t count_section(const struct context_item *items, size_t count, const char *section)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += str_equal(items[i].section, section);
    return found;
}

static void append_cold(struct buf *text, const struct entries *cold)
{
    bool any = false;
    for (size_t i = 0; i < cold->count; i++) {
        if (!cold->items[i].is_chosen)
            continue;
        (void)buf_append_str(text, any ? "" : COLD_TITLE);
        (void)buf_append_str(text, cold->items[i].text);
        any = true;
    }
}

/* New lines go to the end, so that what was sent before is the beginning of what is sent now. */
static void append_warm(const struct draft *draft, struct arena *arena, struct buf *text)
{
    const struct context_epoch *kept = draft->kept;
    size_t number = kept ? count_section(kept->items, kept->item_count, "warm") : 0;
    bool any = kept && any_shown(kept->items, kept->item_count, "warm");
    for (size_t i = 0; i < draft->warm->count; i++) {
        const struct entry *entry = &draft->warm->items[i];
        if (!entry->is_chosen)
            continue;
        number++;
        if (entry->item.withheld)
            continue;
        (void)buf_append_str(text, any ? "" : WARM_TITLE);
        (void)buf_append_str(text, arena_printf(arena, "E%zu %s", number, entry->text));
        any = true;
    }
}

/* Large texts: copied, not formatted. */
static const char *join(const char *const *parts, size_t count, struct arena *arena)
{
    struct buf text = {0};
    for (size_t i = 0; i < count; i++)
        (void)buf_append_str(&text, parts[i]);
    const char *joined = arena_strndup(arena, buf_text(&text), text.length);
    buf_free(&text);
    return joined;
}

void context_put_together(const struct draft *draft, const char *prefix, struct arena *arena,
                          struct context *out)
{
    const char *parts[] = {draft->system, prefix};
    out->prefix_hash = hash_strings(parts, 2);
    out->system_text = draft->system;
    out->facts = draft->facts;
    out->task_text = draft->task;
    out->experience = arena_strdup(arena, prefix + strlen(draft->facts) + strlen(draft->task));
    out->hot = draft->hot;
    const char *whole[] = {out->system_text, "\n", prefix, draft->hot};
    out->text = join(whole, sizeof whole / sizeof *whole, arena);
    out->user_text = out->text + strlen(out->system_text) + 1;
    out->bytes = (int64_t)strlen(out->text);
    out->tokens = tokens_bound(out->text, (size_t)out->bytes) + 2 * TOKENS_PER_MESSAGE;
}

static void assemble(const struct draft *draft, struct arena *arena, struct context *out)
{
    struct buf prefix = {0};
    if (draft->kept) {
        (void)buf_append_str(&prefix, draft->kept->prefix);
    } else {
        (void)buf_append_str(&prefix, draft->facts);
        (void)buf_append_str(&prefix, draft->task);
        append_cold(&prefix, draft->cold);
    }
    append_warm(draft, arena, &prefix);
    context_put_together(draft, buf_text(&prefix), arena, out);
    buf_free(&prefix);
}

/* The chosen item that is worth least; cold before warm. NULL where nothing is left to drop. */
static struct entry *least_chosen(struct draft *draft)
{
    struct entry *least = NULL;
    for (size_t i = 0; i < draft->warm->count; i++) {
        struct entry *entry = &draft->warm->items[i];
        if (entry->is_chosen && !entry->item.withheld && entry->beside[0] == '\0' &&
            (!least || entry->item.score < least->item.score))
            least = entry;
    }
    for (size_t i = draft->cold->count; i-- > 0;) {
        if (draft->cold->items[i].is_chosen)
            return &draft->cold->items[i];
    }
    return least;
}

static int64_t bound_of(const char *text)
{
    return tokens_bound(text, strlen(text));
}

void context_add_required(const struct draft *draft, struct context_item *items)
{
    const struct {
        const char *section, *kind, *text;
    } required[] = {{"hot", "contract", draft->system},
                    {"hot", "facts", draft->facts},
                    {"hot", "task", draft->task},
                    {"hot", "state", draft->hot}};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        const size_t length = strlen(required[i].text);
        items[i] = (struct context_item){.section = required[i].section,
                                         .kind = required[i].kind,
                                         .ref = required[i].kind,
                                         .bytes = (int64_t)length,
                                         .tokens = bound_of(required[i].text),
                                         .propensity = 1.0};
    }
}

static void list_items(const struct draft *draft, struct arena *arena, struct context *out)
{
    const size_t kept = draft->kept ? draft->kept->item_count : 0;
    struct context_item *items =
        arena_array(arena, CONTEXT_REQUIRED_ITEMS + kept + draft->cold->count + draft->warm->count,
                    sizeof *items);
    size_t count = CONTEXT_REQUIRED_ITEMS;
    context_add_required(draft, items);
    for (size_t i = 0; i < kept; i++) { /* which the epoch is about to let go of */
        items[count] = draft->kept->items[i];
        items[count].kind = arena_strdup(arena, items[count].kind);
        items[count].ref = arena_strdup(arena, items[count].ref);
        count++;
    }
    const struct entries *lists[] = {draft->cold, draft->warm};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (lists[l]->items[i].is_chosen)
                items[count++] = lists[l]->items[i].item;
        }
    }
    out->items = items;
    out->item_count = count;
}

/* A bound over the whole can exceed the sum of the parts' bounds: drop the least until it holds. */
static void fit(struct draft *draft, int64_t budget, struct arena *arena, struct context *out)
{
    assemble(draft, arena, out);
    while (out->tokens > budget) {
        struct entry *drop = least_chosen(draft);
        if (!drop)
            BUG("context: required part grew from within its budget");
        drop->is_chosen = false;
        struct entry *against = contradiction_of(draft->warm, drop);
        if (against)
            against->is_chosen = false;
        assemble(draft, arena, out);
    }
}

/* The best entries in another's order: their scores are dealt out again. */
static bool put_in_order(const struct context_order *order, struct entries *warm,
                         struct arena *arena, struct err *err)
{
    const size_t count = warm->count < ORDERED_ITEMS ? warm->count : ORDERED_ITEMS;
    if (!order || count < 2)
        return true;
    qsort(warm->items, warm->count, sizeof *warm->items, by_score);
    const char **texts = arena_array(arena, count, sizeof *texts);
    size_t *indices = arena_array(arena, count, sizeof *indices);
    double *scores = arena_array(arena, count, sizeof *scores);
    for (size_t i = 0; i < count; i++) {
        texts[i] = warm->items[i].text;
        scores[i] = warm->items[i].item.score;
        indices[i] = i;
    }
    if (!order->order(order->context, texts, count, indices, err))
        return false;
    for (size_t i = 0; i < count; i++)
        warm->items[indices[i]].item.score = scores[i];
    return true;
}

static void drop_known(const struct context_epoch *epoch, struct entries *warm)
{
    size_t left = 0;
    for (size_t i = 0; i < warm->count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < epoch->item_count; k++)
            is_known = is_known || str_equal(epoch->items[k].ref, warm->items[i].item.ref);
        if (!is_known)
            warm->items[left++] = warm->items[i];
    }
    warm->count = left;
}

/* What is kept free besides what HOT takes now; depends on nothing that a resume does not know. */
static int64_t reserve_beyond_hot(const struct draft *draft, int64_t budget)
{
    const int64_t fixed = bound_of(draft->system) + bound_of(draft->facts) + bound_of(draft->task);
    const int64_t reserve = (int64_t)((double)(budget - fixed) * RESERVE_SHARE);
    const int64_t hot = bound_of(draft->hot);
    return reserve > hot ? reserve - hot : 0;
}

/* The step after another one: only new lines at the end, as far as there is room. False where the
 * epoch is over: its prefix and HOT do not fit any more, or it is of another task or machine. */
static bool go_on(const struct context_request *request, struct draft *draft, int64_t budget,
                  struct arena *arena, struct context *out)
{
    const struct context_epoch *epoch = request->epoch;
    if (!epoch || !epoch->prefix ||
        !str_starts_with(epoch->prefix, arena_printf(arena, "%s%s", draft->facts, draft->task)))
        return false;
    draft->kept = epoch;
    struct context built = *out;
    struct entries *warm = draft->warm;
    draft->warm = arena_alloc(arena, sizeof(struct entries));
    assemble(draft, arena, &built);
    draft->warm = warm;
    if (built.tokens > budget) {
        draft->kept = NULL;
        return false;
    }
    drop_known(epoch, warm);
    const int64_t room =
        budget - built.tokens - reserve_beyond_hot(draft, budget) - bound_of(WARM_TITLE);
    context_choose(warm, room > 0 ? room : 0, request->withhold_share, request->seed);
    fit(draft, budget, arena, &built);
    *out = built;
    return true;
}

static bool begin_epoch(const struct context_request *request, struct draft *draft, int64_t budget,
                        struct arena *arena, struct context *out, struct err *err)
{
    const int64_t left = budget - out->tokens -
                         (request->epoch ? reserve_beyond_hot(draft, budget) : 0) -
                         bound_of(COLD_TITLE WARM_TITLE);
    split_cold(request->cold, arena, draft->cold);
    const int64_t cold = choose_cold(draft->cold, (int64_t)((double)left * COLD_SHARE));
    if (!put_in_order(request->order, draft->warm, arena, err))
        return false;
    context_choose(draft->warm, left - cold, request->withhold_share, request->seed);
    fit(draft, budget, arena, out);
    if (request->epoch)
        request->epoch->number++;
    return true;
}

void context_draft(const struct context_request *request, struct arena *arena, struct draft *out)
{
    *out = (struct draft){
        .system = request->system ? request->system : "",
        .facts = request->facts && request->facts[0] != '\0'
                     ? arena_printf(arena, "## Machine\n\n%s\n\n", request->facts)
                     : "",
        .task = task_section(request->task, arena),
        .hot = hot_section(request, arena),
        .cold = arena_alloc(arena, sizeof(struct entries)),
        .warm = arena_alloc(arena, sizeof(struct entries)),
    };
}

/* Without moves: the distances of machines, and the discounts before any experience. */
static bool learn_priors(struct graph *graph, const struct context_request *request,
                         struct arena *arena, struct transfer *out, struct err *err)
{
    const struct transfer_place here = {request->task->id.text, request->task->family,
                                        task_regime(request->task), request->target_id};
    return transfer_learn(graph, NULL, 0, &here, arena, out, err);
}

/* All that memory is asked for, of one state of it. */
static bool retrieve(struct graph *graph, const struct context_request *request,
                     struct arena *arena, struct entries *out, struct err *err)
{
    struct transfer priors;
    if (!graph_snapshot_begin(graph, err))
        return false;
    const bool ok =
        (request->transfer || learn_priors(graph, request, arena, &priors, err)) &&
        context_retrieve(graph, request, request->transfer ? request->transfer : &priors, arena,
                         out, err);
    graph_snapshot_end(graph);
    return ok;
}

bool context_build(struct graph *graph, const struct context_request *request, struct arena *arena,
                   struct context *out, struct err *err)
{
    const int64_t budget = request->budget_tokens ? request->budget_tokens : DEFAULT_BUDGET_TOKENS;
    struct draft draft = {0};
    context_draft(request, arena, &draft);
    struct context built = {.budget_tokens = budget};
    assemble(&draft, arena, &built);
    if (built.tokens > budget) {
        (void)err_set(err, ERR_BUDGET,
                      "the required part of the context needs %lld tokens, the budget is %lld",
                      (long long)built.tokens, (long long)budget);
        return err_hint(err, "raise --context-tokens to at least %lld, or shorten the reference",
                        (long long)built.tokens);
    }
    if (!retrieve(graph, request, arena, draft.warm, err))
        return false;
    if (!go_on(request, &draft, budget, arena, &built) &&
        !begin_epoch(request, &draft, budget, arena, &built, err))
        return false;
    list_items(&draft, arena, &built);
    if (request->epoch)
        epoch_keep(request->epoch, &built);
    *out = built;
    return true;
}

char *context_ledger(const struct context *context, struct arena *arena)
{
    struct buf text = {0};
    static const char *const sections[] = {"hot", "cold", "warm", "history"};
    (void)buf_printf(&text, "%-8s %-10s %7s %7s %8s %6s  %s\n", "section", "kind", "tokens",
                     "bytes", "score", "p", "item");
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        int64_t tokens = 0;
        size_t count = 0;
        if (str_equal(sections[s], "history") &&
            count_section(context->items, context->item_count, sections[s]) == 0)
            continue;
        for (size_t i = 0; i < context->item_count; i++) {
            const struct context_item *item = &context->items[i];
            if (!str_equal(item->section, sections[s]))
                continue;
            (void)buf_printf(&text, "%-8s %-10s %7lld %7lld %8.3f %6.2f  %.32s%s\n", item->section,
                             item->kind, (long long)item->tokens, (long long)item->bytes,
                             item->score, item->propensity, item->ref,
                             item->withheld ? " (withheld)" : "");
            if (!item->withheld) {
                tokens += item->tokens;
                count++;
            }
        }
        (void)buf_printf(&text, "%-8s %zu items, %lld tokens\n", sections[s], count,
                         (long long)tokens);
    }
    (void)buf_printf(&text, "total    %lld of %lld tokens (bound), %lld bytes, prefix %.12s\n",
                     (long long)context->tokens, (long long)context->budget_tokens,
                     (long long)context->bytes, context->prefix_hash.text);
    char *copy = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

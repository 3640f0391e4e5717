#include "context/context.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/tokens.h"
#include "context/internal.h"

#include <string.h>

enum { DEFAULT_BUDGET_TOKENS = 16000, PATH_LINES = 8 };
#define COLD_SHARE 0.25

struct draft {
    const char *system, *facts, *task, *hot;
    struct entries *cold, *warm;
};

static const char *task_section(const struct task *task, struct arena *arena)
{
    struct buf text = {0};
    (void)buf_printf(&text, "## Task: %s (%s, %s)\n\n%s\n\n", task->name, task->family,
                     dtype_name(task->dtype), task->summary);
    (void)buf_printf(&text, "Entry point: `%s`\n", task_signature(task, "real", arena));
    (void)buf_printf(&text, "`real` is %s. Precision class %s; %s.\n", dtype_c_name(task->dtype),
                     precision_class_name(task->precision),
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

static const char *path_line(const struct graph_decision *d, struct arena *arena)
{
    if (!d->has_outcome)
        return arena_printf(arena, "- %s: not judged\n", d->intent);
    if (d->kind != VERDICT_TIMED)
        return arena_printf(arena, "- %s: %s (%s): %.400s\n", d->intent, verdict_kind_name(d->kind),
                            d->mechanism, d->evidence);
    return arena_printf(arena, "- %s: log-ratio %.3f [%.3f, %.3f]\n", d->intent, d->log_ratio,
                        d->log_low, d->log_high);
}

static const char *hot_section(const struct context_request *request, struct arena *arena)
{
    struct buf text = {0};
    (void)buf_append_str(&text, "## Now\n\n");
    if (request->current_source)
        (void)buf_printf(&text, "Current best (%s):\n```c\n%s\n```\n\n",
                         request->current_summary ? request->current_summary : "",
                         request->current_source);
    if (request->path_count != 0)
        (void)buf_append_str(&text, "Last outcomes on this path:\n");
    const size_t first = request->path_count > PATH_LINES ? request->path_count - PATH_LINES : 0;
    for (size_t i = first; i < request->path_count; i++)
        (void)buf_append_str(&text, path_line(&request->path[i], arena));
    if (request->finding && request->finding[0] != '\0')
        (void)buf_printf(&text, "\nProfile: %s\n", request->finding);
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

static void append_chosen(struct buf *text, const char *title, const struct entries *entries)
{
    bool any = false;
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        if (!entry->is_chosen || entry->item.withheld)
            continue;
        if (!any)
            (void)buf_append_str(text, title);
        any = true;
        (void)buf_append_str(text, entry->text);
    }
    if (any)
        (void)buf_append_str(text, "\n");
}

static void assemble(const struct draft *draft, struct arena *arena, struct context *out)
{
    struct buf user = {0};
    (void)buf_append_str(&user, draft->facts);
    (void)buf_append_str(&user, draft->task);
    append_chosen(&user, "## Knowledge\n\n", draft->cold);
    append_chosen(&user, "## Experience: what was tried elsewhere, and what came of it\n\n",
                  draft->warm);
    const char *prefix[] = {draft->system, buf_text(&user)};
    out->prefix_hash = hash_strings(prefix, 2);
    (void)buf_append_str(&user, draft->hot);
    out->system_text = draft->system;
    out->user_text = arena_strdup(arena, buf_text(&user));
    buf_free(&user);
    out->text = arena_printf(arena, "%s\n%s", out->system_text, out->user_text);
    out->bytes = (int64_t)strlen(out->text);
    out->tokens = tokens_bound(out->text, (size_t)out->bytes) + 2 * TOKENS_PER_MESSAGE;
}

/* The chosen item that is worth least; cold before warm. NULL where nothing is left to drop. */
static struct entry *least_chosen(struct draft *draft)
{
    struct entry *least = NULL;
    for (size_t i = 0; i < draft->warm->count; i++) {
        struct entry *entry = &draft->warm->items[i];
        if (entry->is_chosen && !entry->item.withheld &&
            (!least || entry->item.score < least->item.score))
            least = entry;
    }
    for (size_t i = draft->cold->count; i-- > 0;) {
        if (draft->cold->items[i].is_chosen)
            return &draft->cold->items[i];
    }
    return least;
}

static void list_items(const struct draft *draft, struct arena *arena, struct context *out)
{
    struct context_item *items =
        arena_array(arena, 4 + draft->cold->count + draft->warm->count, sizeof *items);
    const struct {
        const char *section, *kind, *text;
    } required[] = {{"hot", "contract", draft->system},
                    {"hot", "facts", draft->facts},
                    {"hot", "task", draft->task},
                    {"hot", "state", draft->hot}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        const size_t length = strlen(required[i].text);
        items[count++] = (struct context_item){.section = required[i].section,
                                               .kind = required[i].kind,
                                               .ref = required[i].kind,
                                               .bytes = (int64_t)length,
                                               .tokens = tokens_bound(required[i].text, length),
                                               .propensity = 1.0};
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

bool context_build(struct graph *graph, const struct context_request *request, struct arena *arena,
                   struct context *out, struct err *err)
{
    const int64_t budget = request->budget_tokens ? request->budget_tokens : DEFAULT_BUDGET_TOKENS;
    struct draft draft = {
        .system = request->system ? request->system : "",
        .facts = request->facts && request->facts[0] != '\0'
                     ? arena_printf(arena, "## Machine\n\n%s\n\n", request->facts)
                     : "",
        .task = task_section(request->task, arena),
        .hot = hot_section(request, arena),
        .cold = arena_alloc(arena, sizeof(struct entries)),
        .warm = arena_alloc(arena, sizeof(struct entries)),
    };
    struct context built = {.budget_tokens = budget};
    assemble(&draft, arena, &built);
    if (built.tokens > budget) {
        (void)err_set(err, ERR_BUDGET,
                      "the required part of the context needs %lld tokens, the budget is %lld",
                      (long long)built.tokens, (long long)budget);
        return err_hint(err, "raise --context-tokens to at least %lld, or shorten the reference",
                        (long long)built.tokens);
    }
    const int64_t left = budget - built.tokens;
    if (!context_retrieve(graph, request, arena, draft.warm, err))
        return false;
    split_cold(request->cold, arena, draft.cold);
    const int64_t cold = choose_cold(draft.cold, (int64_t)((double)left * COLD_SHARE));
    context_choose(draft.warm, left - cold, request->withhold_share, request->seed);
    assemble(&draft, arena, &built);
    /* A bound over the whole can exceed the sum of the parts' bounds: drop the least until it
     * holds. */
    while (built.tokens > budget) {
        struct entry *drop = least_chosen(&draft);
        if (!drop)
            BUG("context: required part grew from within its budget");
        drop->is_chosen = false;
        assemble(&draft, arena, &built);
    }
    list_items(&draft, arena, &built);
    *out = built;
    return true;
}

char *context_ledger(const struct context *context, struct arena *arena)
{
    struct buf text = {0};
    static const char *const sections[] = {"hot", "cold", "warm"};
    (void)buf_printf(&text, "%-8s %-10s %7s %7s %8s %6s  %s\n", "section", "kind", "tokens",
                     "bytes", "score", "p", "item");
    for (size_t s = 0; s < 3; s++) {
        int64_t tokens = 0;
        size_t count = 0;
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

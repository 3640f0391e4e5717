#include "engine/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <math.h>

#define WITHHELD_SHARE 0.05
enum { SUMMARY_BYTES = 1500, SUMMARY_BLOCK = 4 };

struct ordering {
    struct run *run;
    struct arena *arena;
};

/* What the field knows and this machine's compilers are asked for, in paragraphs. */
static const char knowledge[] =
    "A float sum vectorizes only when its order may change: split it over independent "
    "accumulators, or allow "
    "reassociation. Four or more independent accumulators hide the latency of an addition.\n\n"
    "Pointers that do not overlap should be `restrict`: the arguments never overlap, but "
    "for those that the task says are one buffer.\n\n"
    "Sizes are run-time values of any size from 1 on, and buffers may be aligned to their element "
    "only: every loop needs its "
    "tail, and no aligned vector load may be assumed.\n\n"
    "expf, tanhf and friends cost 10 to 50 times a multiplication each when called one by one: a "
    "polynomial on vectors, "
    "written in plain C so that the compiler vectorizes it, costs a few.\n\n"
    "A matrix product needs its inner loop over the contiguous index of the result, a register "
    "tile of 4 to 6 rows by 2 to 4 "
    "vectors, and a packed panel of the second operand once it falls out of L2.\n\n"
    "Data that exceeds the last cache is bound by passes over it: fuse loops, block rows so that "
    "later passes hit the cache.\n\n"
    "GCC and clang vector extensions (`typedef float v8 __attribute__((vector_size(32), "
    "aligned(4), may_alias))`) keep "
    "accumulators in registers better than small arrays.\n\n";

/* Moves that change a number of a sequence that is there share a paragraph: their names say it. */
static const char *catalogue_text(const struct move *moves, size_t count, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    CLEANUP(buf_free) struct buf sizes = {0};
    (void)buf_append_str(&text, knowledge);
    for (size_t i = 0; i < count; i++) {
        if (str_equal(moves[i].group, "sizes"))
            (void)buf_printf(&sizes, " %s", moves[i].name);
        else
            (void)buf_printf(&text, "move %s: %s%s%s\n\n", moves[i].name, moves[i].intent,
                             moves[i].breaks[0] != '\0' ? "; can break: " : "", moves[i].breaks);
    }
    if (sizes.length != 0)
        (void)buf_printf(&text, "moves that change numbers of the steps that are there:%s\n\n",
                         buf_text(&sizes));
    return arena_strdup(arena, buf_text(&text));
}

bool prompt_request(const struct task *task, const struct target_features *features,
                    const struct move *catalogue, size_t catalogue_count, struct arena *arena,
                    struct context_request *out)
{
    *out = (struct context_request){
        .task = task,
        .target_id = features->id.text,
        .facts = run_facts_text(features, arena),
        .system = propose_reply_contract(),
        .cold = catalogue_text(catalogue, catalogue_count, arena),
        .current_summary = "",
        .finding = "",
        .ask = "Propose one candidate that is faster than the current source.",
    };
    return true;
}

/* The decisions from the baseline to `node`, as the graph knows them. */
static bool path_of(struct run *run, int node, struct arena *arena,
                    const struct graph_decision **out, size_t *out_count, struct err *err)
{
    struct graph_decisions all;
    if (!graph_run_decisions(run->memory.graph, run->run_id, arena, &all, err))
        return false;
    struct graph_decision *path = arena_array(arena, all.count + 1, sizeof *path);
    size_t count = 0;
    const char *want = run->nodes[node].decision_id;
    for (size_t i = all.count; i-- > 0 && want[0] != '\0';) {
        if (!str_equal(all.items[i].id, want))
            continue;
        path[count++] = all.items[i];
        want = all.items[i].parent;
    }
    for (size_t i = 0; i < count / 2; i++) {
        const struct graph_decision swap = path[i];
        path[i] = path[count - 1 - i];
        path[count - 1 - i] = swap;
    }
    *out = path;
    *out_count = count;
    return true;
}

/* No more than can still be judged. */
static int64_t proposals_wanted(const struct run *run)
{
    const int64_t left = run->opts.budget - run->evaluations;
    return left < run->opts.proposals ? (left > 1 ? left : 1) : run->opts.proposals;
}

static void summary_keep(struct run *run, const char *key, const char *text)
{
    run->summaries = vec_reserve_one(run->summaries, run->summary_count, &run->summary_capacity,
                                     sizeof *run->summaries);
    run->summaries[run->summary_count++] =
        (struct path_summary){arena_strdup(run->arena, key), text};
}

/* The path before the lines that are shown one by one, in the words of the summariser. */
static bool summarise_path(struct run *run, struct context_request *request, struct arena *arena,
                           struct err *err)
{
    if (!run->proposer || request->path_count <= CONTEXT_PATH_LINES)
        return true;
    CLEANUP(buf_free) struct buf text = {0};
    const size_t count = request->path_count - CONTEXT_PATH_LINES;
    /* In blocks, so that most steps find what was said for an earlier one. */
    const size_t end = count - count % SUMMARY_BLOCK;
    for (size_t i = 0; i < end; i++)
        (void)buf_append_str(&text, context_path_line(&request->path[i], arena));
    for (size_t i = 0; end != 0 && i < run->summary_count; i++) {
        if (str_equal(run->summaries[i].key, hash_content(buf_text(&text), text.length).text)) {
            request->path_summary = run->summaries[i].text;
            return true;
        }
    }
    const struct llm_budget budget = exchange_budget(run);
    const struct propose_record record = exchange_record(run);
    const struct propose_request ask = {.budget = &budget, .record = &record};
    if (end == 0)
        return true;
    if (!proposer_summarise(run->proposer, &ask, buf_text(&text), SUMMARY_BYTES, run->arena,
                            &request->path_summary, err))
        return false;
    summary_keep(run, hash_content(buf_text(&text), text.length).text, request->path_summary);
    return true;
}

static bool order_evidence(void *context, const char *const *texts, size_t count, size_t *order,
                           struct err *err)
{
    struct ordering *ordering = context;
    struct run *run = ordering->run;
    const struct llm_budget budget = exchange_budget(run);
    const struct propose_record record = exchange_record(run);
    const struct propose_prompt prompt = {.task = run->task->summary};
    const struct propose_request ask = {.budget = &budget, .record = &record, .prompt = &prompt};
    return proposer_rerank(run->proposer, &ask, texts, count, ordering->arena, order, err);
}

/* Every attempt of the run with its source. */
static bool read_history(struct run *run, struct arena *arena, struct context_request *request,
                         struct err *err)
{
    struct graph_decisions all;
    if (!graph_run_decisions(run->memory.graph, run->run_id, arena, &all, err))
        return false;
    struct context_attempt *history = arena_array(arena, all.count + 1, sizeof *history);
    for (size_t i = 0; i < all.count; i++) {
        history[i] = (struct context_attempt){.decision_id = all.items[i].id,
                                              .outcome = context_path_line(&all.items[i], arena)};
        if (!memory_get_text(&run->memory, all.items[i].source_body, arena, &history[i].source,
                             err))
            return false;
    }
    request->history = history;
    request->history_count = all.count;
    return true;
}

/* Rules that hold here, as failures to avoid: more often met, more worth. Those of the beginning:
 * what is learned later comes into the next run. */
static void rule_offers(const struct run *run, struct arena *arena, struct context_request *request)
{
    static const double WORTH = 0.02;
    const struct rulebook *book = &run->rulebook;
    struct context_offer *offers =
        arena_array(arena, request->offer_count + book->count + 1, sizeof *offers);
    if (request->offer_count > 0)
        memcpy(offers, request->offers, request->offer_count * sizeof *offers);
    for (size_t i = 0; i < book->count; i++) {
        const struct rulebook_rule *rule = &book->rules[i];
        const char *text = rulebook_advice(book, rule, arena);
        if (text)
            offers[request->offer_count++] =
                (struct context_offer){.kind = CONTEXT_RULE,
                                       .ref = rule->rule.id,
                                       .text = text,
                                       .score = WORTH * log1p((double)rule->rule.occurrences)};
    }
    request->offers = offers;
}

static bool build(struct run *run, struct context_request *request, struct arena *arena,
                  struct context *out, struct err *err)
{
    if (run->opts.passive)
        return read_history(run, arena, request, err) &&
               context_build_passive(request, arena, out, err);
    return summarise_path(run, request, arena, err) &&
           context_build(run->memory.graph, request, arena, out, err);
}

/* What the prompt of a node is made of, but for how it is ordered and bounded. */
static bool fill_request(struct run *run, int node, struct arena *arena,
                         struct context_request *request, struct err *err)
{
    struct transfer *transfer = arena_alloc(arena, sizeof *transfer);
    if (!prompt_request(run->task, run->features, run->catalogue, run->catalogue_count, arena,
                        request))
        return false;
    if (run->contract)
        request->system = run->contract;
    if (run->opts.proposals > 1)
        request->ask = arena_printf(arena,
                                    "Propose up to %lld candidates that differ in what they try, "
                                    "each faster than the current source.",
                                    (long long)proposals_wanted(run));
    if (!skill_offers(run, arena, &request->offers, &request->offer_count, err))
        return false;
    rule_offers(run, arena, request);
    if (!remember_transfer(run->memory.graph, run->task, run->features->id.text, run->catalogue,
                           run->catalogue_count, arena, transfer, err))
        return false;
    request->transfer = transfer;
    request->finding = run->finding;
    if (!run_findings(run, run->run_id, run->nodes[node].decision_id, arena, &request->findings,
                      &request->finding_kinds, err) ||
        !answers_offer(run, request->finding_kinds, arena, request, err))
        return false;
    if (node != SEARCH_ROOT) {
        request->current_source = run->nodes[node].candidate.source;
        request->current_summary = run->nodes[node].summary;
        request->current_recipe = run->nodes[node].candidate.recipe;
        request->current_log_ratio = run->nodes[node].log_ratio;
    }
    return path_of(run, node, arena, &request->path, &request->path_count, err);
}

static bool note_context(struct run *run, const struct context *context, struct arena *arena,
                         const char **context_id, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct hash_id id;
    struct context_event event = {.run_id = run->run_id,
                                  .budget_tokens = context->budget_tokens,
                                  .used_tokens = context->tokens,
                                  .items = context->items,
                                  .item_count = context->item_count,
                                  .prefix_hash = context->prefix_hash.text};
    if (!memory_put_text(&run->memory, context->text, arena, &event.text_body, err))
        return false;
    event_write_context(&event, &body);
    if (!memory_append(&run->memory, EVENT_CONTEXT, &body, &id, err))
        return false;
    *context_id = arena_strdup(arena, id.text);
    return true;
}

bool prompt_build(struct run *run, int node, const char *recorded, struct arena *arena,
                  struct context *out, const char **context_id, struct err *err)
{
    struct context_request request;
    struct ordering ordering = {run, arena};
    const struct context_order order = {.order = order_evidence, .context = &ordering};
    if (!fill_request(run, node, arena, &request, err))
        return false;
    /* What was sent before is only made again: the epoch has gone on from it already. */
    CLEANUP(context_epoch_free) struct context_epoch aside = {0};
    if (recorded)
        context_epoch_copy(&run->epoch, &aside);
    request.epoch = recorded ? &aside : &run->epoch;
    request.order = run->proposer ? &order : NULL;
    request.budget_tokens = run->opts.context_tokens;
    request.withhold_share = WITHHELD_SHARE;
    request.seed = run->opts.seed + (uint64_t)run->sequence;
    if (!build(run, &request, arena, out, err))
        return false;
    if (!recorded)
        return note_context(run, out, arena, context_id, err);
    *context_id = recorded;
    return true;
}

bool engine_context(const char *task_path, const char *memory_dir, const char *target_name,
                    int64_t budget_tokens, struct arena *arena, struct context *out,
                    struct err *err)
{
    struct run run = {
        .opts = {.task_path = task_path, .memory_dir = memory_dir, .target = target_name},
        .arena = arena};
    struct context_request request;
    struct transfer transfer;
    bool found = false;
    struct graph_decision best;
    bool ok = run_open_for_context(&run, err) &&
              prompt_request(run.task, run.features, run.catalogue, run.catalogue_count, arena,
                             &request) &&
              remember_transfer(run.memory.graph, run.task, run.features->id.text, run.catalogue,
                                run.catalogue_count, arena, &transfer, err) &&
              graph_best(run.memory.graph, run.task->id.text, run.features->id.text, arena, &found,
                         &best, err);
    if (ok && found) {
        request.current_recipe = best.recipe;
        request.current_log_ratio = best.log_ratio;
        request.current_summary = arena_printf(arena, "%.2fx [%.2f, %.2f]", exp(best.log_ratio),
                                               exp(best.log_low), exp(best.log_high));
        ok = memory_get_text(&run.memory, best.source_body, arena, &request.current_source, err) &&
             run_findings(&run, best.run_id, best.id, arena, &request.findings,
                          &request.finding_kinds, err);
    }
    request.budget_tokens = budget_tokens;
    request.transfer = &transfer;
    ok = ok && skill_offers(&run, arena, &request.offers, &request.offer_count, err);
    if (ok)
        rule_offers(&run, arena, &request);
    ok = ok && context_build(run.memory.graph, &request, arena, out, err);
    run_close(&run);
    return ok;
}

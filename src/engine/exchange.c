/*
 * Exchanges with models: journalled before anything is made of them, counted once, and taken up
 * again by a resume where a process ended between an answer and its decisions.
 */
#include "engine/internal.h"
#include "engine/replay.h"

#include "base/str.h"
#include "json/json.h"

void spend(struct spending *spent, int64_t tokens, bool is_cost_known, double cost_usd)
{
    spent->tokens += tokens;
    spent->cost_usd += cost_usd;
    spent->is_cost_known = spent->is_cost_known && is_cost_known;
}

struct llm_budget exchange_budget(const struct run *run)
{
    struct llm_budget left = {.tokens = -1, .usd = -1.0};
    if (run->opts.token_budget > 0)
        left.tokens = run->opts.token_budget > run->spent.tokens
                          ? run->opts.token_budget - run->spent.tokens
                          : 0;
    if (run->opts.cost_budget_usd > 0.0)
        left.usd = run->opts.cost_budget_usd > run->spent.cost_usd
                       ? run->opts.cost_budget_usd - run->spent.cost_usd
                       : 0.0;
    return left;
}

static bool is_proposal(const char *role)
{
    return str_equal(role, "propose") || str_equal(role, "repair");
}

static bool keep(void *context, const struct propose_exchange *exchange, struct err *err)
{
    struct run *run = context;
    CLEANUP(buf_free) struct buf body = {0};
    const struct llm_reply *reply = exchange->reply;
    const bool proposes = is_proposal(exchange->role);
    struct hash_id id;
    struct exchange_event event = {
        .run_id = run->run_id,
        .role = exchange->role,
        .model = exchange->model,
        .parent = proposes ? run->exchanges.parent : "",
        .step = proposes ? run->exchanges.step : "",
        .context_id = proposes ? run->exchanges.context_id : "",
        .sequence = run->sequence,
        .prompt_hash = exchange->prompt_hash,
        .finish_reason = reply->finish_reason,
        .tokens_in = reply->usage.input_tokens,
        .tokens_cached = reply->usage.cached_tokens,
        .tokens_out = reply->usage.output_tokens,
        .tokens_reasoning = reply->usage.reasoning_tokens,
        .tokens_lost = reply->lost_tokens,
        .is_estimate = reply->usage.is_estimate,
        .is_cost_known = reply->is_cost_known,
        .cost_usd = reply->cost_usd,
        .attempts = reply->attempts,
        .wall_ns = exchange->wall_ns,
    };
    /* Paid for, whether it can be written or not. */
    spend(&run->spent, event.tokens_in + event.tokens_out + event.tokens_lost, event.is_cost_known,
          event.cost_usd);
    if (!memory_put_text(&run->memory, exchange->exchange_json, run->arena, &event.body, err))
        return false;
    event_write_exchange(&event, &body);
    if (!memory_append(&run->memory, EVENT_EXCHANGE, &body, &id, err))
        return false;
    if (proposes)
        run->exchanges.last_id = arena_strdup(run->arena, id.text);
    spans_exchange(run, exchange);
    return true;
}

static void note_failure(void *context, const struct propose_exchange *exchange)
{
    spans_exchange(context, exchange);
}

/* What a role was asked before, word for word, it is not asked again. */
static bool recall_help(struct run *run, const char *role, const char *prompt, struct arena *arena,
                        const char **out, struct err *err)
{
    const struct exchanges *x = &run->exchanges;
    const struct hash_id hash = hash_content(prompt, strlen(prompt));
    for (size_t i = 0; i < x->earlier_count; i++) {
        if (str_equal(x->earlier[i].role, role) && str_equal(x->earlier[i].prompt_hash, hash.text))
            return memory_get_text(&run->memory, x->earlier[i].body, arena, out, err);
    }
    return true;
}

/* What an earlier process has paid for comes first; it was counted when the run was taken up. */
static bool recall(void *context, const char *role, const char *prompt, struct arena *arena,
                   const char **out, struct err *err)
{
    struct run *run = context;
    struct exchanges *x = &run->exchanges;
    *out = NULL;
    if (run->replay)
        return replay_recall(run, role, prompt, arena, out, err);
    if (!is_proposal(role))
        return recall_help(run, role, prompt, arena, out, err);
    if (x->recorded_next == x->recorded_count)
        return !x->is_closed || err_set(err, ERR_BUDGET, "the proposal was decided on before");
    /* Other runs may have taught the memory something since: the answer counts, not the prompt. */
    const struct graph_exchange *recorded = &x->recorded[x->recorded_next++];
    x->last_id = recorded->id;
    return memory_get_text(&run->memory, recorded->body, arena, out, err);
}

struct propose_record exchange_record(struct run *run)
{
    return (struct propose_record){
        .keep = keep, .note_failure = note_failure, .recall = recall, .context = run};
}

/* The exchanges of the last proposal: it begins with "propose". */
static size_t last_proposal(const struct graph_exchange *all, size_t count)
{
    size_t i = count;
    while (i > 0 && !str_equal(all[i - 1].role, "propose"))
        i--;
    return i > 0 ? i - 1 : count;
}

static int node_of(const struct run *run, const char *decision_id)
{
    for (size_t i = 1; i < run->node_count; i++) {
        if (str_equal(run->nodes[i].decision_id, decision_id))
            return (int)i;
    }
    return SEARCH_ROOT;
}

/* Reads the recorded answer again, and writes the decisions that are not there yet. */
static bool take_up(struct run *run, const struct graph_exchange *first, int64_t decided,
                    struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct propose_request request;
    struct proposal proposal;
    const char *context_id = "";
    bool exhausted = false;
    const int parent = node_of(run, first->parent);
    if (!step_fill_request(run, parent, str_equal(first->step, "large"), first->context_id, &arena,
                           &request, &context_id, err) ||
        !proposer_next(run->proposer, &request, &arena, &exhausted, &proposal, err))
        return false;
    const struct step_input input = {.parent = parent,
                                     .step = first->step,
                                     .derived_from = "",
                                     .context_id = first->context_id,
                                     .exchange_id = run->exchanges.last_id,
                                     .first_index = decided,
                                     .uses = step_uses(run, &proposal),
                                     .proposal = &proposal};
    return step_judge(run, &input, err);
}

bool exchange_take_up(struct run *run, const struct graph_decisions *decisions, struct err *err)
{
    const struct graph_exchange *all = NULL;
    size_t count = 0;
    int64_t decided = 0;
    if (!graph_exchanges(run->memory.graph, run->run_id, run->arena, &all, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        spend(&run->spent, all[i].tokens_in + all[i].tokens_out + all[i].tokens_lost,
              all[i].is_cost_known, all[i].cost_usd);
    run->exchanges.earlier = all;
    run->exchanges.earlier_count = count;
    const size_t first = last_proposal(all, count);
    if (first == count)
        return true;
    struct graph_exchange *recorded = arena_array(run->arena, count - first, sizeof *recorded);
    for (size_t i = first; i < count; i++) {
        if (is_proposal(all[i].role))
            recorded[run->exchanges.recorded_count++] = all[i];
        for (size_t d = 0; d < decisions->count; d++)
            decided += str_equal(decisions->items[d].exchange_id, all[i].id);
    }
    run->exchanges.recorded = recorded;
    run->exchanges.is_closed = decided > 0;
    const bool ok = take_up(run, &all[first], decided, err);
    run->exchanges.recorded_count = run->exchanges.recorded_next = 0;
    run->exchanges.is_closed = false;
    return ok;
}

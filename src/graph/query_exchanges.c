#include "graph/internal.h"

static void take_exchange(struct query *query, struct arena *arena, void *into)
{
    struct graph_exchange *out = into;
    out->id = take_text(query, arena);
    out->role = take_text(query, arena);
    out->model = take_text(query, arena);
    out->parent = take_text(query, arena);
    out->step = take_text(query, arena);
    out->context_id = take_text(query, arena);
    out->prompt_hash = take_text(query, arena);
    out->finish_reason = take_text(query, arena);
    out->body = take_text(query, arena);
    out->sequence = take_int(query);
    out->tokens_in = take_int(query);
    out->tokens_cached = take_int(query);
    out->tokens_out = take_int(query);
    out->tokens_reasoning = take_int(query);
    out->tokens_lost = take_int(query);
    out->is_estimate = take_bool(query);
    out->is_cost_known = take_bool(query);
    out->cost_usd = take_real(query);
    out->attempts = take_int(query);
    out->wall_ns = take_int(query);
}

bool graph_exchanges(struct graph *graph, const char *run_id, struct arena *arena,
                     const struct graph_exchange **out, size_t *out_count, struct err *err)
{
    static const struct row_kind kind = {take_exchange, sizeof(struct graph_exchange)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph,
                     "SELECT exchange_id, role, model, parent, step, context_id, prompt_hash,"
                     " finish_reason, body, sequence, tokens_in, tokens_cached, tokens_out,"
                     " tokens_reasoning, tokens_lost, is_estimate, is_cost_known, cost_usd,"
                     " attempts, wall_ns FROM exchange WHERE run_id = ? ORDER BY stamp",
                     &query, err))
        return false;
    give_text(&query, run_id);
    if (!take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

static void take_item(struct query *query, struct arena *arena, void *out)
{
    struct context_item *item = out;
    item->section = take_text(query, arena);
    item->kind = take_text(query, arena);
    item->ref = take_text(query, arena);
    item->bytes = take_int(query);
    item->tokens = take_int(query);
    item->score = take_real(query);
    item->propensity = take_real(query);
    item->withheld = take_bool(query);
}

static bool take_items(struct graph *graph, struct arena *arena, struct graph_context *context,
                       struct err *err)
{
    static const struct row_kind kind = {take_item, sizeof(struct context_item)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph,
                     "SELECT section, kind, ref, bytes, tokens, score, propensity, withheld"
                     " FROM context_item WHERE context_id = ? ORDER BY position",
                     &query, err))
        return false;
    give_text(&query, context->id);
    if (!take_rows(&query, &kind, arena, &items, &context->item_count, err))
        return false;
    context->items = items;
    return true;
}

bool graph_last_context(struct graph *graph, const char *run_id, struct arena *arena, bool *found,
                        struct graph_context *out, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    struct graph_context context = {0};
    bool has_row = false;
    if (!query_begin(graph,
                     "SELECT context_id, text_body, prefix_hash FROM context c WHERE run_id = ?"
                     " AND (EXISTS (SELECT 1 FROM exchange e WHERE e.run_id = c.run_id"
                     " AND e.context_id = c.context_id)"
                     " OR EXISTS (SELECT 1 FROM decision d WHERE d.run_id = c.run_id"
                     " AND d.context_id = c.context_id)) ORDER BY stamp DESC LIMIT 1",
                     &query, err))
        return false;
    give_text(&query, run_id);
    if (!query_step(&query, &has_row, err))
        return false;
    *found = has_row;
    if (!has_row)
        return true;
    context.id = take_text(&query, arena);
    context.text_body = take_text(&query, arena);
    context.prefix_hash = take_text(&query, arena);
    if (!take_items(graph, arena, &context, err))
        return false;
    *out = context;
    return true;
}

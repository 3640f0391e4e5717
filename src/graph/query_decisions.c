#include "graph/internal.h"

#include <string.h>

static void take_decision(struct query *query, struct arena *arena, void *into)
{
    struct graph_decision *out = into;
    *out = (struct graph_decision){0};
    out->id = take_text(query, arena);
    out->run_id = take_text(query, arena);
    out->parent = take_text(query, arena);
    out->task_id = take_text(query, arena);
    out->task_name = take_text(query, arena);
    out->family = take_text(query, arena);
    out->target_id = take_text(query, arena);
    out->sequence = take_int(query);
    out->step = take_text(query, arena);
    out->proposer = take_text(query, arena);
    out->intent = take_text(query, arena);
    out->hypothesis = take_text(query, arena);
    out->moves = take_text(query, arena);
    out->recipe = take_text(query, arena);
    out->compiler = take_text(query, arena);
    out->flags = take_text(query, arena);
    out->source_body = take_text(query, arena);
    out->candidate_id = take_text(query, arena);
    out->code_id = take_text(query, arena);
    out->derived_from = take_text(query, arena);
    out->failure = take_text(query, arena);
    out->predicted_log_ratio = take_real(query);
    out->has_outcome = take_bool(query);
    (void)verdict_kind_from_name(take_text(query, arena), &out->kind);
    out->mechanism = take_text(query, arena);
    out->evidence = take_text(query, arena);
    out->diagnostics_body = take_text(query, arena);
    out->log_ratio = take_real(query);
    out->log_low = take_real(query);
    out->log_high = take_real(query);
    out->gain = take_real(query);
    out->is_win = take_bool(query);
    out->is_confirmed = take_bool(query);
    out->confirm_failed = take_bool(query);
    out->confirmed_log_ratio = take_real(query);
    out->confirmed_low = take_real(query);
    out->confirmed_high = take_real(query);
    out->held_out_log_ratio = take_real(query);
    out->wall_ms = take_int(query);
    out->tokens_in = take_int(query);
    out->tokens_out = take_int(query);
    out->context_id = take_text(query, arena);
    out->exchange_id = take_text(query, arena);
    out->uses = take_text(query, arena);
    out->exchange_index = take_int(query);
    out->has_gain = take_bool(query);
    out->regime = take_text(query, arena);
}

bool take_decisions(struct query *query, struct arena *arena, struct graph_decisions *out,
                    struct err *err)
{
    static const struct row_kind kind = {take_decision, sizeof(struct graph_decision)};
    const void *items = NULL;
    if (!take_rows(query, &kind, arena, &items, &out->count, err))
        return false;
    out->items = items;
    return true;
}

bool decisions_of_rows(struct graph *graph, const int64_t *rows, size_t row_count,
                       struct arena *arena, struct graph_decisions *out, struct err *err)
{
    static const char sql[] = "SELECT " DECISION_COLUMNS " FROM decision_view v WHERE v.row = ?1";
    struct graph_decision *items = arena_array(arena, row_count + 1, sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++) {
        CLEANUP(query_end) struct query query = {0};
        bool has_row = false;
        if (!query_begin(graph, sql, &query, err))
            return false;
        give_int(&query, rows[i]);
        if (!query_step(&query, &has_row, err))
            return false;
        if (has_row)
            take_decision(&query, arena, &items[count++]);
    }
    *out = (struct graph_decisions){.items = items, .count = count};
    return true;
}

int64_t row_limit(size_t limit)
{
    return limit > INT32_MAX ? INT32_MAX : (int64_t)limit;
}

bool graph_run_decisions(struct graph *graph, const char *run_id, struct arena *arena,
                         struct graph_decisions *out, struct err *err)
{
    static const char sql[] = "SELECT " DECISION_COLUMNS " FROM decision_view v"
                              " WHERE v.run_id = ? ORDER BY v.sequence, v.stamp";
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, run_id);
    return take_decisions(&query, arena, out, err);
}

bool graph_search(struct graph *graph, const char *words, size_t limit, struct arena *arena,
                  struct graph_decisions *out, struct err *err)
{
    /* What was done and what came of it weighs more than on which task. */
    static const char sql[] =
        "WITH hit AS MATERIALIZED (SELECT d.decision_id, bm25(decision_text, 1.0, 0.5) AS score"
        " FROM decision_text JOIN decision d ON d.row = decision_text.rowid"
        " JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"
        " AND o.kind <> 'too-noisy' WHERE decision_text MATCH ?1"
        " ORDER BY score, d.decision_id LIMIT ?2)"
        " SELECT " DECISION_COLUMNS " FROM hit JOIN decision_view v"
        " ON v.decision_id = hit.decision_id ORDER BY hit.score, v.decision_id";
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, text_match_any(words, arena));
    give_int(&query, row_limit(limit));
    return take_decisions(&query, arena, out, err);
}

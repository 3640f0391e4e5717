/* What the whole memory says: statistics, and the evidence of moves. */
#include "graph/internal.h"

static bool count_verdicts(struct graph *graph, struct graph_stats *stats, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "SELECT kind, count(*) FROM outcome INDEXED BY outcome_by_kind"
                     " WHERE is_confirmation = 0 GROUP BY kind",
                     &query, err))
        return false;
    for (;;) {
        bool has_row = false;
        enum verdict_kind kind;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            return true;
        if (verdict_kind_from_name(take_text(&query, &scratch), &kind))
            stats->by_verdict[kind] = take_int(&query);
    }
}

bool graph_get_stats(struct graph *graph, struct graph_stats *out, struct err *err)
{
    static const char sql[] =
        "SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM task),"
        " (SELECT count(*) FROM target), (SELECT count(*) FROM run),"
        " (SELECT count(*) FROM decision), (SELECT count(*) FROM outcome),"
        " (SELECT count(*) FROM finding), (SELECT count(*) FROM context),"
        " (SELECT count(*) FROM outcome INDEXED BY outcome_by_kind WHERE is_confirmation = 0"
        " AND kind = 'timed' AND is_win = 1),"
        " (SELECT count(*) FROM outcome INDEXED BY outcome_confirmed WHERE is_confirmation = 1"
        " AND kind = 'timed' AND is_win = 1),"
        " (SELECT avg(best) FROM (SELECT max(log_ratio) AS best FROM outcome"
        " INDEXED BY outcome_confirmed WHERE is_confirmation = 1 AND kind = 'timed'"
        " AND is_win = 1 AND task_id <> '' GROUP BY task_id))";
    struct graph_stats stats = {0};
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, sql, &query, err) || !query_step(&query, &has_row, err))
        return false;
    stats.events = take_int(&query);
    stats.tasks = take_int(&query);
    stats.targets = take_int(&query);
    stats.runs = take_int(&query);
    stats.decisions = take_int(&query);
    stats.outcomes = take_int(&query);
    stats.findings = take_int(&query);
    stats.contexts = take_int(&query);
    stats.wins = take_int(&query);
    stats.confirmed = take_int(&query);
    stats.best_log_ratio_mean = take_real(&query);
    if (!count_verdicts(graph, &stats, err))
        return false;
    *out = stats;
    return true;
}

static void take_target(struct query *query, struct arena *arena, void *out)
{
    struct graph_target *target = out;
    target->id = take_text(query, arena);
    target->name = take_text(query, arena);
    target->cpu = take_text(query, arena);
    target->arch = take_text(query, arena);
    target->isa = take_text(query, arena);
    target->cores = take_int(query);
    target->vector_bytes = take_int(query);
    target->peak_gflops_f32 = take_real(query);
    target->memory_gbs = take_real(query);
}

bool graph_targets(struct graph *graph, struct arena *arena, const struct graph_target **out,
                   size_t *out_count, struct err *err)
{
    static const struct row_kind kind = {take_target, sizeof(struct graph_target)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph,
                     "SELECT target_id, name, cpu, arch, isa, cores, vector_bytes, peak_gflops_f32,"
                     " memory_gbs FROM target ORDER BY target_id",
                     &query, err))
        return false;
    if (!take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

/* What the whole memory says: statistics, and the evidence of moves. */
#include "graph/internal.h"

#include "base/vec.h"

#include <stdlib.h>

static bool count_verdicts(struct graph *graph, struct graph_stats *stats, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "SELECT kind, count(*) FROM outcome WHERE is_confirmation = 0 GROUP BY kind",
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
        " (SELECT count(*) FROM decision_view WHERE is_win),"
        " (SELECT count(*) FROM decision_view WHERE is_confirmed),"
        " (SELECT avg(best) FROM (SELECT max(confirmed_log_ratio) AS best FROM decision_view"
        " WHERE is_confirmed AND task_id <> '' GROUP BY task_id))";
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

#define EVIDENCE_SELECT                                                                            \
    "WITH tried AS (SELECT m.move, m.share, o.kind, CASE WHEN o.kind = 'timed' AND"                \
    " (d.parent = '' OR p.kind = 'timed') THEN o.log_ratio - coalesce(p.log_ratio, 0.0) END"       \
    " AS gain FROM decision_move m JOIN decision d ON d.decision_id = m.decision_id"               \
    " JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"                   \
    " LEFT JOIN outcome p ON p.decision_id = d.parent AND p.is_confirmation = 0"                   \
    " LEFT JOIN run r ON r.run_id = d.run_id LEFT JOIN task t ON t.task_id = r.task_id"            \
    " WHERE ?1 IS NOT NULL AND ?2 IS NOT NULL AND ?3 IS NOT NULL"

#define EVIDENCE_SUM                                                                               \
    ") SELECT move, count(gain), total(gain * share), total(gain * share * gain * share),"         \
    " total(kind NOT IN ('timed', 'too-noisy')) FROM tried GROUP BY move"                          \
    " HAVING count(gain) > 0 OR total(kind NOT IN ('timed', 'too-noisy')) > 0 ORDER BY move"

/* Parameters: task, family, target. */
static const char *const evidence_sql[] = {
    [SCOPE_TASK] = EVIDENCE_SELECT " AND r.task_id = ?1 AND r.target_id = ?3" EVIDENCE_SUM,
    [SCOPE_FAMILY_TARGET] = EVIDENCE_SELECT " AND t.family = ?2 AND r.target_id = ?3" EVIDENCE_SUM,
    [SCOPE_FAMILY] = EVIDENCE_SELECT " AND t.family = ?2" EVIDENCE_SUM,
    [SCOPE_ALL] = EVIDENCE_SELECT EVIDENCE_SUM,
};

bool graph_move_evidence(struct graph *graph, enum graph_scope scope, const char *task_id,
                         const char *family, const char *target_id, struct arena *arena,
                         const struct graph_move_evidence **out, size_t *out_count, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, evidence_sql[scope], &query, err))
        return false;
    give_text(&query, task_id);
    give_text(&query, family);
    give_text(&query, target_id);
    struct graph_move_evidence *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool has_row = false;
    bool ok = query_step(&query, &has_row, err);
    while (ok && has_row) {
        items = vec_reserve_one(items, count, &capacity, sizeof *items);
        struct graph_move_evidence *item = &items[count++];
        item->move = take_text(&query, arena);
        item->count = take_real(&query);
        item->sum = take_real(&query);
        item->sum_squares = take_real(&query);
        item->failures = take_real(&query);
        ok = query_step(&query, &has_row, err);
    }
    if (ok) {
        *out = arena_memdup(arena, items, count * sizeof *items);
        *out_count = count;
    }
    free(items);
    return ok;
}

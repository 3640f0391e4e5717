/*
 * What each move gained where: table move_cell, a row for a move on a task and target. It is the
 * sum of what decisions contribute; an event that changes a contribution takes the old one out and
 * puts the new one in. Sums are integers (10^-9 of a log-ratio), so that they do not depend on the
 * order of events and a rebuild gives the same bits.
 */
#include "graph/internal.h"

const char schema_cells[] =
    "CREATE TABLE move_cell(task_id TEXT NOT NULL, target_id TEXT NOT NULL, move TEXT NOT NULL,"
    " timed INTEGER NOT NULL, failures INTEGER NOT NULL, gain_e9 INTEGER NOT NULL,"
    " squares_e9 INTEGER NOT NULL, PRIMARY KEY(task_id, target_id, move)) STRICT, WITHOUT ROWID;";

/* What a decision contributes: a gain where both ends are timed (the baseline's end is 0), shared
 * equally by its moves; or a failure. Too noisy is neither. ?1 is a decision or run, ?2 is 1 or -1.
 */
#define CONTRIBUTIONS                                                                              \
    "SELECT r.task_id, r.target_id, m.move, m.share,"                                              \
    " o.kind NOT IN ('timed', 'too-noisy') AS is_failure, CASE WHEN o.kind = 'timed' AND"          \
    " (d.parent = '' OR p.kind = 'timed') THEN o.log_ratio - coalesce(p.log_ratio, 0.0) END AS"    \
    " gain FROM decision d JOIN run r ON r.run_id = d.run_id"                                      \
    " JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"                   \
    " JOIN decision_move m ON m.decision_id = d.decision_id"                                       \
    " LEFT JOIN outcome p ON p.decision_id = d.parent AND p.is_confirmation = 0"

/* A gain beyond what a sum of squares can hold is no measurement. A row is added to what stands,
 * and not sorted and summed up first: that would take the memory of all of them. */
#define CHANGE(sign, where)                                                                        \
    "INSERT INTO move_cell(task_id, target_id, move, timed, failures, gain_e9, squares_e9)"        \
    " SELECT task_id, target_id, move, " sign " * (gain IS NOT NULL), " sign                       \
    " * is_failure, " sign " * CAST(round(coalesce(gain, 0.0) * share * 1e9) AS INTEGER), " sign   \
    " * CAST(round(coalesce(gain * share * gain * share, 0.0) * 1e9) AS INTEGER)"                  \
    " FROM (" CONTRIBUTIONS where ") WHERE (gain BETWEEN -50.0 AND 50.0) OR is_failure"            \
    " ON CONFLICT(task_id, target_id, move) DO UPDATE SET timed = timed + excluded.timed,"         \
    " failures = failures + excluded.failures, gain_e9 = gain_e9 + excluded.gain_e9,"              \
    " squares_e9 = squares_e9 + excluded.squares_e9"

static const char change_decision[] = CHANGE("?2", " WHERE d.decision_id = ?1");
static const char change_children[] = CHANGE("?2", " WHERE d.parent = ?1 AND d.parent <> ''");
static const char change_run[] = CHANGE("?2", " WHERE d.run_id = ?1");

const char cells_make_all[] = "DELETE FROM move_cell;" CHANGE("1", "");

static bool change(struct graph *graph, const char *sql, const char *id, int64_t sign, bool *any,
                   struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, id);
    give_int(&query, sign);
    if (!query_run(&query, err))
        return false;
    *any = *any || sqlite3_changes(graph->db) != 0;
    return true;
}

bool cells_take_out(struct graph *graph, const char *decision_id, struct err *err)
{
    bool any = false;
    if (graph->is_bulk)
        return true;
    if (!change(graph, change_decision, decision_id, -1, &any, err) ||
        !change(graph, change_children, decision_id, -1, &any, err))
        return false;
    /* A row of nothing is no row: a graph that never had it is equal. */
    return !any || graph_exec(graph, "DELETE FROM move_cell WHERE timed = 0 AND failures = 0", err);
}

bool cells_put_in(struct graph *graph, const char *decision_id, struct err *err)
{
    bool any = false;
    return graph->is_bulk || (change(graph, change_decision, decision_id, 1, &any, err) &&
                              change(graph, change_children, decision_id, 1, &any, err));
}

bool cells_put_in_decision(struct graph *graph, const char *decision_id, struct err *err)
{
    bool any = false;
    return graph->is_bulk || change(graph, change_decision, decision_id, 1, &any, err);
}

bool cells_put_in_run(struct graph *graph, const char *run_id, struct err *err)
{
    bool any = false;
    return graph->is_bulk || change(graph, change_run, run_id, 1, &any, err);
}

/* The table of pruned events, and edges that follow from outcomes. */
#include "graph/internal.h"

/* A confirmation supports or contradicts the outcome that it repeats. A decision supports another
 * of the same moves on the same task and target where both gained or both lost, beyond their
 * intervals, and contradicts it where one gained and the other lost; the later points to the
 * earlier. A decision of a run that began from, or was derived from, another task's decision:
 * transferred-to, from there to here. */
const char schema_prune[] =
    "CREATE TABLE pruned(event_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;"
    "CREATE VIEW move_effect AS SELECT d.decision_id, d.stamp, d.moves, r.task_id, r.target_id,"
    " o.log_low - coalesce(p.log_high, 0.0) AS low, o.log_high - coalesce(p.log_low, 0.0) AS high"
    " FROM decision d JOIN run r ON r.run_id = d.run_id"
    " JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"
    " LEFT JOIN outcome p ON p.decision_id = d.parent AND p.is_confirmation = 0"
    " WHERE d.moves <> '' AND o.kind = 'timed' AND (d.parent = '' OR p.kind = 'timed');"
    "DROP VIEW edge;"
    "CREATE VIEW edge AS"
    " SELECT 'next' AS kind, parent AS source, decision_id AS target FROM decision"
    " WHERE parent <> ''"
    " UNION ALL SELECT 'next', run_id, decision_id FROM decision WHERE parent = ''"
    " UNION ALL SELECT 'alternative', a.decision_id, b.decision_id FROM decision a JOIN decision b"
    " ON a.run_id = b.run_id AND a.parent = b.parent AND a.decision_id < b.decision_id"
    " UNION ALL SELECT 'derived-from', decision_id, derived_from FROM decision"
    " WHERE derived_from <> ''"
    " UNION ALL SELECT 'used', d.decision_id, i.ref FROM decision d JOIN context_item i"
    " ON i.context_id = d.context_id WHERE i.withheld = 0 AND i.ref <> ''"
    " UNION ALL SELECT CASE WHEN (a.low > 0) = (b.low > 0) THEN 'supports' ELSE 'contradicts' END,"
    " b.decision_id, a.decision_id FROM move_effect a JOIN move_effect b ON b.moves = a.moves"
    " AND b.task_id = a.task_id AND b.target_id = a.target_id AND b.stamp > a.stamp"
    " WHERE (a.low > 0 OR a.high < 0) AND (b.low > 0 OR b.high < 0)"
    " UNION ALL SELECT CASE WHEN c.is_win THEN 'supports' ELSE 'contradicts' END,"
    " substr(c.stamp, -32), c.decision_id FROM outcome c JOIN outcome o"
    " ON o.decision_id = c.decision_id AND o.is_confirmation = 0"
    " WHERE c.is_confirmation = 1 AND c.kind <> 'too-noisy' AND o.is_win = 1"
    " UNION ALL SELECT 'transferred-to', r.start_decision, r.run_id FROM run r"
    " JOIN decision d ON d.decision_id = r.start_decision JOIN run s ON s.run_id = d.run_id"
    " WHERE s.task_id <> r.task_id OR s.target_id <> r.target_id"
    " UNION ALL SELECT 'transferred-to', d.derived_from, d.decision_id FROM decision d"
    " JOIN decision e ON e.decision_id = d.derived_from JOIN run r ON r.run_id = d.run_id"
    " JOIN run s ON s.run_id = e.run_id WHERE s.task_id <> r.task_id OR s.target_id <> r.target_id;"
    "DELETE FROM event WHERE kind = 'prune'; DELETE FROM segment;";

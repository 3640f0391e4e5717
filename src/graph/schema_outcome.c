/*
 * Outcomes as rows behind a narrow key. A table without row ids keeps whole rows in the inner nodes
 * of its tree, some five to a page where rows are as long as these: at a million outcomes a way of
 * eight pages to each, against twice three, of which the inner ones stay in the cache. An outcome
 * that is looked for and not there (most have no confirmation) costs the key alone.
 */
#include "graph/internal.h"

/* SQLite cannot give a table without row ids any, so the rows move out and in again. */
const char schema_outcome[] =
    "CREATE TABLE outcome_before AS SELECT * FROM outcome; DROP TABLE outcome;"
    "CREATE TABLE outcome(row INTEGER PRIMARY KEY, decision_id TEXT NOT NULL,"
    " is_confirmation INTEGER NOT NULL,"
    " stamp TEXT NOT NULL, run_id TEXT NOT NULL, target_id TEXT NOT NULL, task_id TEXT NOT NULL,"
    " kind TEXT NOT NULL, mechanism TEXT NOT NULL, evidence TEXT NOT NULL,"
    " diagnostics TEXT NOT NULL, diagnostics_body TEXT NOT NULL, log_ratio REAL NOT NULL,"
    " log_low REAL NOT NULL, log_high REAL NOT NULL, held_out_log_ratio REAL NOT NULL,"
    " held_out_low REAL NOT NULL, held_out_high REAL NOT NULL, has_held_out INTEGER NOT NULL,"
    " confirmed INTEGER NOT NULL, is_win INTEGER NOT NULL, from_record INTEGER NOT NULL,"
    " code_id TEXT NOT NULL, gate_id TEXT NOT NULL, missing_layers TEXT NOT NULL,"
    " screen_ns INTEGER NOT NULL, build_ns INTEGER NOT NULL, start_ns INTEGER NOT NULL,"
    " check_ns INTEGER NOT NULL, time_ns INTEGER NOT NULL, total_ns INTEGER NOT NULL,"
    " case_count INTEGER NOT NULL, UNIQUE(decision_id, is_confirmation)) STRICT;";

const char schema_outcome_fill[] =
    "INSERT INTO outcome SELECT NULL, * FROM outcome_before; DROP TABLE outcome_before;"
    "CREATE INDEX outcome_by_code ON outcome(task_id, gate_id, code_id) WHERE code_id <> '';"
    "CREATE INDEX outcome_best ON outcome(task_id, target_id, is_confirmation, log_low DESC,"
    " decision_id) WHERE kind = 'timed' AND is_win = 1;"
    "CREATE INDEX outcome_by_rule ON outcome(mechanism) WHERE mechanism = 'rule';"
    "CREATE INDEX outcome_failed ON outcome(stamp) WHERE kind IN ('build-failed', 'rejected');"
    "CREATE INDEX outcome_timed ON outcome(decision_id, log_ratio)"
    " WHERE kind = 'timed' AND is_confirmation = 0;";

/* Statistics are counted in these alone. */
const char schema_outcome_counts[] =
    "CREATE INDEX outcome_by_kind ON outcome(kind, is_win) WHERE is_confirmation = 0;"
    "CREATE INDEX outcome_confirmed ON outcome(task_id, log_ratio)"
    " WHERE is_confirmation = 1 AND kind = 'timed' AND is_win = 1;";

/* The partial index has to hold what it is asked by too, or each of its rows is fetched for that.
 */
const char schema_outcome_timed[] =
    "DROP INDEX outcome_timed;"
    "CREATE INDEX outcome_timed ON outcome(decision_id, is_confirmation, kind, log_ratio)"
    " WHERE kind = 'timed' AND is_confirmation = 0;";

/* The tables of rules. */
#include "graph/internal.h"

/* Events of this kind that an older version has seen and left aside are read again. */
const char schema_rule[] =
    "CREATE TABLE rule(rule_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, wall_ms INTEGER NOT NULL,"
    " cause TEXT NOT NULL, words TEXT NOT NULL, predicate TEXT NOT NULL,"
    " reproducer_body TEXT NOT NULL, flags TEXT NOT NULL, dtype TEXT NOT NULL,"
    " task_id TEXT NOT NULL, task_dir TEXT NOT NULL, evidence TEXT NOT NULL,"
    " occurrences INTEGER NOT NULL, candidates INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE rule_check(check_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, rule_id TEXT NOT NULL,"
    " result TEXT NOT NULL, compiler TEXT NOT NULL, compiler_family TEXT NOT NULL,"
    " compiler_version TEXT NOT NULL, target_id TEXT NOT NULL, decision_id TEXT NOT NULL,"
    " reason TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX rule_check_of ON rule_check(rule_id, stamp);"
    "CREATE INDEX decision_by_candidate ON decision(candidate_id);"
    "CREATE INDEX outcome_by_rule ON outcome(mechanism) WHERE mechanism = 'rule';"
    "CREATE INDEX outcome_failed ON outcome(stamp) WHERE kind IN ('build-failed', 'rejected');"
    "DELETE FROM event WHERE kind = 'rule'; DELETE FROM segment;";

/* The tables of skills. */
#include "graph/internal.h"

/* Events of this kind that an older version has seen and left aside are read again. `skill_edge`:
 * what was measured of a skill supports or contradicts it. */
const char schema_skill[] =
    "CREATE TABLE skill(skill_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, name TEXT NOT NULL,"
    " intent TEXT NOT NULL, applies TEXT NOT NULL, needs TEXT NOT NULL, change TEXT NOT NULL,"
    " breaks TEXT NOT NULL, origin TEXT NOT NULL, learned_on TEXT NOT NULL,"
    " before_body TEXT NOT NULL, after_body TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE skill_state(skill_id TEXT PRIMARY KEY, stamp TEXT NOT NULL,"
    " state TEXT NOT NULL, reason TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE skill_evidence(evidence_id TEXT PRIMARY KEY, stamp TEXT NOT NULL,"
    " wall_ms INTEGER NOT NULL, skill_id TEXT NOT NULL, kind TEXT NOT NULL,"
    " decision_id TEXT NOT NULL, task_id TEXT NOT NULL, task_name TEXT NOT NULL,"
    " family TEXT NOT NULL, regime TEXT NOT NULL, target_id TEXT NOT NULL, verdict TEXT NOT NULL,"
    " text TEXT NOT NULL, log_ratio REAL NOT NULL, log_low REAL NOT NULL, log_high REAL NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE INDEX skill_evidence_of ON skill_evidence(skill_id, stamp);"
    "CREATE VIRTUAL TABLE skill_text USING fts5(skill_id UNINDEXED, body);"
    "CREATE VIEW skill_edge AS SELECT CASE WHEN log_low > 0 THEN 'supports' ELSE 'contradicts' END"
    " AS kind, CASE WHEN decision_id <> '' THEN decision_id ELSE evidence_id END AS source,"
    " skill_id AS target FROM skill_evidence"
    " WHERE verdict = 'timed' AND (log_low > 0 OR log_high < 0);"
    "DELETE FROM event WHERE kind = 'skill'; DELETE FROM segment;";

/* What an example is built with: compiler and flags. */
const char schema_skill_build[] = "ALTER TABLE skill ADD COLUMN build TEXT NOT NULL DEFAULT '';";

/*
 * What retrieval for the context goes through, so that what it costs hardly grows with the memory:
 * terms of decisions (rank.c), and indices that hold all that their queries read.
 */
#include "graph/internal.h"

const char schema_near[] =
    "CREATE VIRTUAL TABLE decision_near USING fts5(terms, content = '', detail = none,"
    " columnsize = 0, tokenize = 'ascii');"
    "DROP INDEX decision_by_parent;"
    "CREATE INDEX decision_by_parent ON decision(parent, decision_id) WHERE parent <> '';"
    "CREATE INDEX outcome_timed ON outcome(decision_id, log_ratio)"
    " WHERE kind = 'timed' AND is_confirmation = 0;";

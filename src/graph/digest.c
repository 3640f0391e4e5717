/*
 * The digest: a hash over every row of every table in the order of its key, without what depends on
 * the order of arrival (row numbers, how far the journal was read).
 */
#include "graph/internal.h"

#include "base/buf.h"

#include <inttypes.h>

#define OUTCOME_COLUMNS                                                                            \
    "decision_id, is_confirmation, stamp, run_id, target_id, task_id, kind, mechanism, evidence,"  \
    " diagnostics, diagnostics_body, log_ratio, log_low, log_high, held_out_log_ratio,"            \
    " held_out_low, held_out_high, has_held_out, confirmed, is_win, from_record, code_id,"         \
    " gate_id, missing_layers, screen_ns, build_ns, start_ns, check_ns, time_ns, total_ns,"        \
    " case_count"
#define TEXT_DUMP "SELECT 'text', d.decision_id, f.body, f.tags FROM decision d"

static const char *const dumps[] = {
    "SELECT 'event', * FROM event ORDER BY event_id",
    "SELECT 'task', task_id, stamp, name, family, dtype, precision, dir, regime, reference_body,"
    " features FROM task ORDER BY task_id",
    "SELECT 'target', * FROM target ORDER BY target_id",
    "SELECT 'run', * FROM run ORDER BY run_id",
    "SELECT 'run_end', * FROM run_end ORDER BY run_id",
    "SELECT 'decision', decision_id, stamp, wall_ms, run_id, parent, sequence, step, proposer,"
    " intent, hypothesis, predicted_log_ratio, moves, recipe, compiler, flags, source_body,"
    " candidate_id, context_id, derived_from, tokens_in, tokens_out, failure, exchange_id,"
    " exchange_index, uses FROM decision ORDER BY decision_id",
    "SELECT 'move', * FROM decision_move ORDER BY decision_id, move",
    "SELECT 'outcome', " OUTCOME_COLUMNS " FROM outcome ORDER BY decision_id, is_confirmation",
    "SELECT 'case', * FROM outcome_case ORDER BY decision_id, is_confirmation, position",
    "SELECT 'cold', * FROM case_cold ORDER BY decision_id, is_confirmation, position",
    "SELECT 'finding', * FROM finding ORDER BY finding_id",
    "SELECT 'context', * FROM context ORDER BY context_id",
    "SELECT 'item', * FROM context_item ORDER BY context_id, position",
    "SELECT 'note', * FROM note ORDER BY note_id",
    "SELECT 'exchange', * FROM exchange ORDER BY exchange_id",
    "SELECT 'rule', * FROM rule ORDER BY rule_id",
    "SELECT 'rule-check', * FROM rule_check ORDER BY check_id",
    "SELECT 'skill', * FROM skill ORDER BY skill_id",
    "SELECT 'skill-state', * FROM skill_state ORDER BY skill_id",
    "SELECT 'skill-evidence', * FROM skill_evidence ORDER BY evidence_id",
    "SELECT 'pruned', * FROM pruned ORDER BY event_id",
    "SELECT 'cell', * FROM move_cell ORDER BY task_id, target_id, move",
    TEXT_DUMP " LEFT JOIN decision_text f ON f.rowid = d.row ORDER BY d.decision_id",
    "SELECT 'words', t.task_id, f.words FROM task t LEFT JOIN task_text f ON f.rowid = t.row"
    " ORDER BY t.task_id",
};

/* Each value with its type and length, so that different rows have different texts. */
static void append_value(sqlite3_stmt *row, int column, struct buf *out)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        (void)buf_append_str(out, "n;");
        break;
    case SQLITE_INTEGER:
        (void)buf_printf(out, "i%" PRId64 ";", (int64_t)sqlite3_column_int64(row, column));
        break;
    case SQLITE_FLOAT:
        (void)buf_printf(out, "r%.17g;", sqlite3_column_double(row, column));
        break;
    default: {
        const unsigned char *text = sqlite3_column_text(row, column);
        const int length = sqlite3_column_bytes(row, column);
        (void)buf_printf(out, "t%d:", length);
        (void)buf_append(out, text, (size_t)length);
        break;
    }
    }
}

static bool dump(struct graph *graph, const char *sql, struct hash_id *digest, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    CLEANUP(buf_free) struct buf text = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            return true;
        buf_clear(&text);
        (void)buf_append(&text, digest->text, HASH_ID_CHARS);
        const int columns = sqlite3_column_count(query.statement->handle);
        for (int i = 0; i < columns; i++)
            append_value(query.statement->handle, i, &text);
        *digest = hash_content(text.data, text.length);
    }
}

bool graph_digest(struct graph *graph, struct hash_id *out, struct err *err)
{
    struct hash_id digest = hash_content("", 0);
    if (!graph_snapshot_begin(graph, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof dumps / sizeof *dumps; i++)
        ok = dump(graph, dumps[i], &digest, err);
    graph_snapshot_end(graph);
    if (ok)
        *out = digest;
    return ok;
}

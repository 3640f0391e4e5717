/*
 * The schema, explained in docs/graph-schema.md. A change appends a migration; one that was
 * released is never edited.
 */
#include "graph/internal.h"

#include "base/str.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

enum { WAL_ATTEMPTS = 300 };

static const char tables_v1[] =
    "CREATE TABLE event(event_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, kind TEXT NOT NULL,"
    " problem TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE segment(name TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;"

    "CREATE TABLE task(row INTEGER PRIMARY KEY, task_id TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL,"
    " name TEXT NOT NULL, family TEXT NOT NULL, dtype TEXT NOT NULL, precision TEXT NOT NULL,"
    " dir TEXT NOT NULL, regime TEXT NOT NULL, reference_body TEXT NOT NULL,"
    " features TEXT NOT NULL) STRICT;"
    "CREATE TABLE target(target_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, name TEXT NOT NULL,"
    " cpu TEXT NOT NULL, arch TEXT NOT NULL, isa TEXT NOT NULL, cores INTEGER NOT NULL,"
    " vector_bytes INTEGER NOT NULL, peak_gflops_f32 REAL NOT NULL, memory_gbs REAL NOT NULL,"
    " compilers TEXT NOT NULL) STRICT, WITHOUT ROWID;"

    "CREATE TABLE run(run_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, wall_ms INTEGER NOT NULL,"
    " task_id TEXT NOT NULL, target_id TEXT NOT NULL, task_dir TEXT NOT NULL,"
    " proposer TEXT NOT NULL, policy TEXT NOT NULL, seed INTEGER NOT NULL,"
    " budget INTEGER NOT NULL, time_limit_ns INTEGER NOT NULL, token_budget INTEGER NOT NULL,"
    " kope_version TEXT NOT NULL, gate_id TEXT NOT NULL, host TEXT NOT NULL, kernel TEXT NOT NULL,"
    " load_average REAL NOT NULL, start_decision TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX run_by_task ON run(task_id, target_id);"
    "CREATE INDEX run_by_stamp ON run(stamp);"
    "CREATE TABLE run_end(run_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, reason TEXT NOT NULL,"
    " best_decision TEXT NOT NULL, best_log_ratio REAL NOT NULL, evaluations INTEGER NOT NULL,"
    " wall_ns INTEGER NOT NULL, tokens INTEGER NOT NULL) STRICT, WITHOUT ROWID;"

    "CREATE TABLE decision(row INTEGER PRIMARY KEY, decision_id TEXT NOT NULL UNIQUE,"
    " stamp TEXT NOT NULL, wall_ms INTEGER NOT NULL, run_id TEXT NOT NULL, parent TEXT NOT NULL,"
    " sequence INTEGER NOT NULL, step TEXT NOT NULL, proposer TEXT NOT NULL, intent TEXT NOT NULL,"
    " hypothesis TEXT NOT NULL, predicted_log_ratio REAL NOT NULL, moves TEXT NOT NULL,"
    " recipe TEXT NOT NULL, compiler TEXT NOT NULL, flags TEXT NOT NULL,"
    " source_body TEXT NOT NULL, candidate_id TEXT NOT NULL, context_id TEXT NOT NULL,"
    " derived_from TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,"
    " failure TEXT NOT NULL) STRICT;"
    "CREATE INDEX decision_by_run ON decision(run_id, sequence);"
    "CREATE INDEX decision_by_parent ON decision(parent) WHERE parent <> '';"
    "CREATE TABLE decision_move(decision_id TEXT NOT NULL, move TEXT NOT NULL,"
    " share REAL NOT NULL, PRIMARY KEY(decision_id, move)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE outcome(decision_id TEXT NOT NULL, is_confirmation INTEGER NOT NULL,"
    " stamp TEXT NOT NULL, run_id TEXT NOT NULL, target_id TEXT NOT NULL, task_id TEXT NOT NULL,"
    " kind TEXT NOT NULL, mechanism TEXT NOT NULL, evidence TEXT NOT NULL,"
    " diagnostics TEXT NOT NULL, diagnostics_body TEXT NOT NULL, log_ratio REAL NOT NULL,"
    " log_low REAL NOT NULL, log_high REAL NOT NULL, held_out_log_ratio REAL NOT NULL,"
    " held_out_low REAL NOT NULL, held_out_high REAL NOT NULL, has_held_out INTEGER NOT NULL,"
    " confirmed INTEGER NOT NULL, is_win INTEGER NOT NULL, from_record INTEGER NOT NULL,"
    " code_id TEXT NOT NULL, gate_id TEXT NOT NULL, missing_layers TEXT NOT NULL,"
    " screen_ns INTEGER NOT NULL, build_ns INTEGER NOT NULL, start_ns INTEGER NOT NULL,"
    " check_ns INTEGER NOT NULL, time_ns INTEGER NOT NULL, total_ns INTEGER NOT NULL,"
    " case_count INTEGER NOT NULL, PRIMARY KEY(decision_id, is_confirmation)) STRICT,"
    " WITHOUT ROWID;"
    "CREATE INDEX outcome_by_code ON outcome(task_id, gate_id, code_id) WHERE code_id <> '';"
    "CREATE INDEX outcome_wins ON outcome(decision_id) WHERE is_win = 1;"
    "CREATE TABLE outcome_case(decision_id TEXT NOT NULL, is_confirmation INTEGER NOT NULL,"
    " position INTEGER NOT NULL, name TEXT NOT NULL, weight REAL NOT NULL,"
    " held_out INTEGER NOT NULL, log_ratio REAL NOT NULL, log_low REAL NOT NULL,"
    " log_high REAL NOT NULL, noise REAL NOT NULL, pairs INTEGER NOT NULL,"
    " baseline_ns INTEGER NOT NULL, candidate_ns INTEGER NOT NULL, roofline REAL NOT NULL,"
    " error REAL NOT NULL, PRIMARY KEY(decision_id, is_confirmation, position)) STRICT,"
    " WITHOUT ROWID;";

static const char more_tables_v1[] =
    "CREATE TABLE finding(finding_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, run_id TEXT NOT NULL,"
    " decision_id TEXT NOT NULL, bottleneck TEXT NOT NULL, text TEXT NOT NULL,"
    " number REAL NOT NULL, line INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX finding_by_run ON finding(run_id);"
    "CREATE TABLE context(context_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, run_id TEXT NOT NULL,"
    " budget_tokens INTEGER NOT NULL, used_tokens INTEGER NOT NULL, prefix_hash TEXT NOT NULL,"
    " text_body TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE context_item(context_id TEXT NOT NULL, position INTEGER NOT NULL,"
    " section TEXT NOT NULL, kind TEXT NOT NULL, ref TEXT NOT NULL, bytes INTEGER NOT NULL,"
    " tokens INTEGER NOT NULL, score REAL NOT NULL, propensity REAL NOT NULL,"
    " withheld INTEGER NOT NULL, PRIMARY KEY(context_id, position)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE note(note_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, text TEXT NOT NULL,"
    " about TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE VIRTUAL TABLE decision_text USING fts5(body, tags);"
    "CREATE VIRTUAL TABLE task_text USING fts5(words);";

/* A decision with all that came of it. A gain needs both ends timed; the baseline's end is 0. */
static const char views_v1[] =
    "CREATE VIEW decision_view AS SELECT d.decision_id, d.row, d.stamp, d.run_id, d.parent,"
    " coalesce(r.task_id, '') AS task_id, coalesce(t.name, '') AS task_name,"
    " coalesce(t.family, '') AS family, coalesce(r.target_id, '') AS target_id, d.sequence, d.step,"
    " d.proposer, d.intent, d.hypothesis, d.moves, d.recipe, d.compiler, d.flags, d.source_body,"
    " d.candidate_id, coalesce(o.code_id, '') AS code_id, d.derived_from, d.failure,"
    " d.predicted_log_ratio, o.kind IS NOT NULL AS has_outcome, o.kind, o.mechanism, o.evidence,"
    " o.diagnostics_body, o.log_ratio, o.log_low, o.log_high,"
    " CASE WHEN o.kind = 'timed' AND (d.parent = '' OR p.kind = 'timed')"
    " THEN o.log_ratio - coalesce(p.log_ratio, 0.0) END AS gain,"
    " coalesce(o.kind = 'timed' AND o.is_win, 0) AS is_win,"
    " coalesce(c.kind = 'timed' AND c.is_win, 0) AS is_confirmed,"
    " coalesce(c.kind <> 'too-noisy' AND NOT (c.kind = 'timed' AND c.is_win), 0)"
    " AS confirm_failed,"
    " c.log_ratio AS confirmed_log_ratio, c.log_low AS confirmed_low, c.log_high AS confirmed_high,"
    " c.held_out_log_ratio,"
    " CASE WHEN c.kind = 'timed' THEN c.log_low ELSE o.log_low END AS pessimistic,"
    " d.wall_ms, d.tokens_in, d.tokens_out"
    " FROM decision d LEFT JOIN run r ON r.run_id = d.run_id"
    " LEFT JOIN task t ON t.task_id = r.task_id"
    " LEFT JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"
    " LEFT JOIN outcome c ON c.decision_id = d.decision_id AND c.is_confirmation = 1"
    " LEFT JOIN outcome p ON p.decision_id = d.parent AND p.is_confirmation = 0;"

    "CREATE VIEW edge AS"
    " SELECT 'next' AS kind, parent AS source, decision_id AS target FROM decision"
    " WHERE parent <> ''"
    " UNION ALL SELECT 'next', run_id, decision_id FROM decision WHERE parent = ''"
    " UNION ALL SELECT 'alternative', a.decision_id, b.decision_id FROM decision a JOIN decision b"
    " ON a.run_id = b.run_id AND a.parent = b.parent AND a.decision_id < b.decision_id"
    " UNION ALL SELECT 'derived-from', decision_id, derived_from FROM decision"
    " WHERE derived_from <> ''"
    " UNION ALL SELECT 'used', d.decision_id, i.ref FROM decision d JOIN context_item i"
    " ON i.context_id = d.context_id WHERE i.withheld = 0 AND i.ref <> '';";

/* Exchanges with models, and what a decision says of the one that it comes from. */
static const char tables_v2[] =
    "ALTER TABLE run ADD COLUMN settings TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE decision ADD COLUMN exchange_id TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE decision ADD COLUMN exchange_index INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE decision ADD COLUMN uses TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE exchange(exchange_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, run_id TEXT NOT NULL,"
    " role TEXT NOT NULL, model TEXT NOT NULL, parent TEXT NOT NULL, step TEXT NOT NULL,"
    " context_id TEXT NOT NULL, sequence INTEGER NOT NULL, prompt_hash TEXT NOT NULL,"
    " finish_reason TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL,"
    " tokens_out INTEGER NOT NULL, tokens_reasoning INTEGER NOT NULL,"
    " tokens_lost INTEGER NOT NULL, is_estimate INTEGER NOT NULL, is_cost_known INTEGER NOT NULL,"
    " cost_usd REAL NOT NULL, attempts INTEGER NOT NULL, wall_ns INTEGER NOT NULL,"
    " body TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX exchange_by_run ON exchange(run_id, stamp);"
    "DROP VIEW edge; DROP VIEW decision_view;";

/* As before, with the exchange. */
static const char views_v2[] =
    "CREATE VIEW decision_view AS SELECT d.decision_id, d.row, d.stamp, d.run_id, d.parent,"
    " coalesce(r.task_id, '') AS task_id, coalesce(t.name, '') AS task_name,"
    " coalesce(t.family, '') AS family, coalesce(r.target_id, '') AS target_id, d.sequence, d.step,"
    " d.proposer, d.intent, d.hypothesis, d.moves, d.recipe, d.compiler, d.flags, d.source_body,"
    " d.candidate_id, coalesce(o.code_id, '') AS code_id, d.derived_from, d.failure,"
    " d.predicted_log_ratio, o.kind IS NOT NULL AS has_outcome, o.kind, o.mechanism, o.evidence,"
    " o.diagnostics_body, o.log_ratio, o.log_low, o.log_high,"
    " CASE WHEN o.kind = 'timed' AND (d.parent = '' OR p.kind = 'timed')"
    " THEN o.log_ratio - coalesce(p.log_ratio, 0.0) END AS gain,"
    " coalesce(o.kind = 'timed' AND o.is_win, 0) AS is_win,"
    " coalesce(c.kind = 'timed' AND c.is_win, 0) AS is_confirmed,"
    " coalesce(c.kind <> 'too-noisy' AND NOT (c.kind = 'timed' AND c.is_win), 0)"
    " AS confirm_failed,"
    " c.log_ratio AS confirmed_log_ratio, c.log_low AS confirmed_low, c.log_high AS confirmed_high,"
    " c.held_out_log_ratio,"
    " CASE WHEN c.kind = 'timed' THEN c.log_low ELSE o.log_low END AS pessimistic,"
    " d.wall_ms, d.tokens_in, d.tokens_out, d.context_id, d.exchange_id, d.exchange_index,"
    " d.uses"
    " FROM decision d LEFT JOIN run r ON r.run_id = d.run_id"
    " LEFT JOIN task t ON t.task_id = r.task_id"
    " LEFT JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"
    " LEFT JOIN outcome c ON c.decision_id = d.decision_id AND c.is_confirmation = 1"
    " LEFT JOIN outcome p ON p.decision_id = d.parent AND p.is_confirmation = 0;"

    "CREATE VIEW edge AS"
    " SELECT 'next' AS kind, parent AS source, decision_id AS target FROM decision"
    " WHERE parent <> ''"
    " UNION ALL SELECT 'next', run_id, decision_id FROM decision WHERE parent = ''"
    " UNION ALL SELECT 'alternative', a.decision_id, b.decision_id FROM decision a JOIN decision b"
    " ON a.run_id = b.run_id AND a.parent = b.parent AND a.decision_id < b.decision_id"
    " UNION ALL SELECT 'derived-from', decision_id, derived_from FROM decision"
    " WHERE derived_from <> ''"
    " UNION ALL SELECT 'used', d.decision_id, i.ref FROM decision d JOIN context_item i"
    " ON i.context_id = d.context_id WHERE i.withheld = 0 AND i.ref <> '';";

/* Times with cold caches; a table of its own, because few cases have them. */
static const char tables_v3[] =
    "CREATE TABLE case_cold(decision_id TEXT NOT NULL, is_confirmation INTEGER NOT NULL,"
    " position INTEGER NOT NULL, pairs INTEGER NOT NULL, log_ratio REAL NOT NULL,"
    " log_low REAL NOT NULL, log_high REAL NOT NULL, baseline_ns INTEGER NOT NULL,"
    " candidate_ns INTEGER NOT NULL, PRIMARY KEY(decision_id, is_confirmation, position)) STRICT,"
    " WITHOUT ROWID;";

/* Each migration is a list of scripts (C limits the length of a literal), ended by NULL. */
static const char *const migration_1[] = {tables_v1, more_tables_v1, views_v1, NULL};
static const char *const migration_2[] = {tables_v2, views_v2, NULL};
static const char *const migration_3[] = {tables_v3, NULL};
static const char *const migration_4[] = {schema_skill, NULL};
static const char *const migration_5[] = {schema_cells, cells_make_all, NULL};
static const char *const migration_6[] = {schema_retrieve, text_decisions_sql, NULL};
static const char *const migration_7[] = {schema_skill_build, NULL};
static const char *const migration_8[] = {schema_prune, NULL};
static const char *const migration_9[] = {schema_rule, NULL};
static const char *const migration_10[] = {schema_near, near_make_all, NULL};
static const char *const migration_11[] = {schema_outcome, schema_outcome_fill, NULL};
static const char *const migration_12[] = {schema_outcome_counts, NULL};
static const char *const migration_13[] = {schema_outcome_timed, NULL};
static const char *const migration_14[] = {schema_finding, NULL};
static const char *const *const migrations[] = {
    migration_1, migration_2, migration_3,  migration_4,  migration_5,  migration_6,  migration_7,
    migration_8, migration_9, migration_10, migration_11, migration_12, migration_13, migration_14};
enum { SCHEMA_VERSION = sizeof migrations / sizeof *migrations };

static const char drop_all[] =
    "DROP VIEW IF EXISTS edge; DROP VIEW IF EXISTS move_effect; DROP TABLE IF EXISTS pruned;"
    "DROP VIEW IF EXISTS decision_view;"
    "DROP TABLE IF EXISTS decision_text; DROP TABLE IF EXISTS decision_near;"
    "DROP TABLE IF EXISTS task_text;"
    "DROP TABLE IF EXISTS event; DROP TABLE IF EXISTS segment; DROP TABLE IF EXISTS task;"
    "DROP TABLE IF EXISTS target; DROP TABLE IF EXISTS run; DROP TABLE IF EXISTS run_end;"
    "DROP TABLE IF EXISTS decision; DROP TABLE IF EXISTS decision_move;"
    "DROP TABLE IF EXISTS outcome; DROP TABLE IF EXISTS outcome_case;"
    "DROP TABLE IF EXISTS finding; DROP TABLE IF EXISTS context; DROP TABLE IF EXISTS context_item;"
    "DROP TABLE IF EXISTS note; DROP TABLE IF EXISTS exchange;"
    "DROP TABLE IF EXISTS rule; DROP TABLE IF EXISTS rule_check;"
    "DROP TABLE IF EXISTS case_cold; DROP VIEW IF EXISTS skill_edge;"
    "DROP TABLE IF EXISTS skill; DROP TABLE IF EXISTS skill_state;"
    "DROP TABLE IF EXISTS move_cell; DROP TABLE IF EXISTS skill_evidence; DROP TABLE IF EXISTS "
    "skill_text; PRAGMA user_version = "
    "0;";

static bool read_version(struct graph *graph, int64_t *out, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, "PRAGMA user_version", &query, err) ||
        !query_step(&query, &has_row, err))
        return false;
    *out = has_row ? take_int(&query) : 0;
    return true;
}

/* Within a transaction. */
static bool migrate(struct graph *graph, struct err *err)
{
    int64_t version = 0;
    if (!read_version(graph, &version, err))
        return false;
    for (; version < SCHEMA_VERSION; version++) {
        for (const char *const *script = migrations[version]; *script; script++) {
            if (!graph_exec(graph, *script, err))
                return false;
        }
    }
    CLEANUP(arena_free) struct arena scratch = {0};
    return graph_exec(graph,
                      arena_printf(&scratch, "PRAGMA user_version = %d", (int)SCHEMA_VERSION), err);
}

bool schema_create(struct graph *graph, struct err *err)
{
    int64_t version = 0;
    if (!read_version(graph, &version, err))
        return false;
    if (version == SCHEMA_VERSION)
        return true;
    if (version > SCHEMA_VERSION) {
        (void)err_set(err, ERR_UNSUPPORTED, "the graph '%s' has version %d of the schema, not %d",
                      graph->path, (int)version, (int)SCHEMA_VERSION);
        return err_hint(err, "use a newer kope, or remove it: it is built again from the journal");
    }
    return graph_begin(graph, err) && graph_end(graph, migrate(graph, err), err);
}

bool schema_reset(struct graph *graph, struct err *err)
{
    return graph_exec(graph, drop_all, err) && migrate(graph, err);
}

/* Two processes that open a new file at once get SQLITE_BUSY here without the busy timeout. */
bool schema_use_wal(struct graph *graph, struct err *err)
{
    for (int attempt = 0;; attempt++) {
        const int code = sqlite3_exec(graph->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (code == SQLITE_OK)
            return true;
        if (code != SQLITE_BUSY || attempt == WAL_ATTEMPTS)
            return graph_refused(graph, "open", err);
        os_sleep_ns(INT64_C(10) * 1000 * 1000);
    }
}

bool graph_open(const char *path, struct graph **out, struct err *err)
{
    CLEANUP(graph_close) struct graph *graph = calloc(1, sizeof *graph);
    if (!graph || !(graph->path = strdup(path)))
        BUG("graph: out of memory");
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &graph->db, flags, NULL) != SQLITE_OK)
        return graph_refused(graph, "open", err);
    (void)sqlite3_busy_timeout(graph->db, GRAPH_BUSY_TIMEOUT_MS);
    if (!schema_use_wal(graph, err) ||
        !graph_exec(graph,
                    "PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF;"
                    "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
                    "PRAGMA cache_size = -65536;",
                    err) ||
        !rank_register(graph, err) || !schema_create(graph, err))
        return false;
    *out = graph;
    graph = NULL;
    return true;
}

void graph_close(struct graph **graph)
{
    struct graph *closing = *graph;
    if (!closing)
        return;
    for (size_t i = 0; i < closing->statement_count; i++)
        (void)sqlite3_finalize(closing->statements[i].handle);
    cells_drop(closing);
    (void)sqlite3_close(closing->db);
    free(closing->path);
    free(closing);
    *graph = NULL;
}

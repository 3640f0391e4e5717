#include "graph/findings.h"

#include "base/buf.h"
#include "graph/internal.h"

const char schema_finding[] = "ALTER TABLE finding ADD COLUMN tool TEXT NOT NULL DEFAULT '';"
                              "ALTER TABLE finding ADD COLUMN moves TEXT NOT NULL DEFAULT '';"
                              "CREATE INDEX finding_by_kind ON finding(bottleneck, stamp);";

#define COLUMNS "decision_id, bottleneck, text, tool, moves, number, line"

static void take_finding(struct query *query, struct arena *arena, void *out)
{
    struct graph_finding *finding = out;
    finding->decision_id = take_text(query, arena);
    finding->bottleneck = take_text(query, arena);
    finding->text = take_text(query, arena);
    finding->tool = take_text(query, arena);
    finding->moves = take_text(query, arena);
    finding->number = take_real(query);
    finding->line = take_int(query);
}

static bool take_findings(struct query *query, struct arena *arena,
                          const struct graph_finding **out, size_t *out_count, struct err *err)
{
    static const struct row_kind kind = {take_finding, sizeof(struct graph_finding)};
    const void *items = NULL;
    if (!take_rows(query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

bool graph_findings(struct graph *graph, const char *run_id, struct arena *arena,
                    const struct graph_finding **out, size_t *out_count, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, "SELECT " COLUMNS " FROM finding WHERE run_id = ? ORDER BY stamp",
                     &query, err))
        return false;
    give_text(&query, run_id);
    return take_findings(&query, arena, out, out_count, err);
}

/* A candidate's own rows: by its decision, or by the run whose reference it is. */
#define OF_DECISION "decision_id = ?1"
#define OF_REFERENCE "run_id = ?1 AND decision_id = ''"
#define IS_A_FINDING " AND bottleneck NOT IN ('ablation', 'tools', '')"

static bool begin_of(struct graph *graph, const char *run_id, const char *decision_id,
                     const char *const by[2], int64_t limit, struct query *query, struct err *err)
{
    const bool is_reference = decision_id[0] == '\0';
    if (!query_begin(graph, by[is_reference], query, err))
        return false;
    give_text(query, is_reference ? run_id : decision_id);
    give_int(query, limit);
    return true;
}

bool graph_findings_of(struct graph *graph, const char *run_id, const char *decision_id,
                       struct arena *arena, const struct graph_finding **out, size_t *out_count,
                       struct err *err)
{
    static const char by_decision[] =
        "SELECT " COLUMNS " FROM finding WHERE " OF_DECISION IS_A_FINDING
        " ORDER BY stamp LIMIT ?2";
    static const char by_run[] = "SELECT " COLUMNS " FROM finding WHERE " OF_REFERENCE IS_A_FINDING
                                 " ORDER BY stamp LIMIT ?2";
    CLEANUP(query_end) struct query query = {0};
    const char *const by[] = {by_decision, by_run};
    return begin_of(graph, run_id, decision_id, by, GRAPH_MOST_FINDINGS, &query, err) &&
           take_findings(&query, arena, out, out_count, err);
}

bool graph_finding_kinds(struct graph *graph, const char *run_id, const char *decision_id,
                         struct arena *arena, const char **out, struct err *err)
{
    static const char by_decision[] =
        "SELECT DISTINCT bottleneck FROM finding WHERE " OF_DECISION IS_A_FINDING
        " ORDER BY 1 LIMIT ?2";
    static const char by_run[] =
        "SELECT DISTINCT bottleneck FROM finding WHERE " OF_REFERENCE IS_A_FINDING
        " ORDER BY 1 LIMIT ?2";
    CLEANUP(query_end) struct query query = {0};
    CLEANUP(buf_free) struct buf kinds = {0};
    const char *const by[] = {by_decision, by_run};
    if (!begin_of(graph, run_id, decision_id, by, GRAPH_MOST_KINDS, &query, err))
        return false;
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            break;
        (void)buf_printf(&kinds, "%s%s", kinds.length ? " " : "", take_text(&query, arena));
    }
    *out = arena_strdup(arena, buf_text(&kinds));
    return true;
}

/* Steps from candidates with the kind: those of decisions through the index of parents, those of
 * references through the index of runs. The log-ratio of a reference is 0. Sums are of whole
 * numbers, in 10^-9, so that the order of rows does not matter. */
static const char gains_sql[] =
    "WITH found AS MATERIALIZED (SELECT DISTINCT run_id, decision_id FROM (SELECT run_id,"
    " decision_id FROM finding WHERE bottleneck = ?1 ORDER BY stamp DESC LIMIT ?2)),"
    " step AS MATERIALIZED (SELECT d.decision_id, p.log_ratio AS before FROM found f"
    " JOIN decision d ON d.parent = f.decision_id AND d.parent <> ''"
    " JOIN outcome p ON p.decision_id = f.decision_id AND p.is_confirmation = 0"
    " AND p.kind = 'timed' WHERE f.decision_id <> ''"
    " UNION ALL SELECT d.decision_id, 0.0 FROM found f JOIN decision d ON d.run_id = f.run_id"
    " WHERE f.decision_id = '' AND d.parent = '')"
    " SELECT m.move, sum(o.kind = 'timed'), sum(CASE WHEN o.kind = 'timed'"
    " THEN CAST(round(1e9 * (o.log_ratio - s.before) * m.share) AS INTEGER) ELSE 0 END),"
    " sum(CASE WHEN o.kind = 'timed' THEN CAST(round(1e9 * (o.log_ratio - s.before)"
    " * (o.log_ratio - s.before) * m.share * m.share) AS INTEGER) ELSE 0 END),"
    " sum(o.kind NOT IN ('timed', 'too-noisy'))"
    " FROM step s JOIN outcome o ON o.decision_id = s.decision_id AND o.is_confirmation = 0"
    " JOIN decision_move m ON m.decision_id = s.decision_id GROUP BY m.move ORDER BY m.move";

static void take_gain(struct query *query, struct arena *arena, void *out)
{
    struct graph_kind_gain *gain = out;
    gain->move = take_text(query, arena);
    gain->count = take_real(query);
    gain->sum = 1e-9 * (double)take_int(query);
    gain->squares = 1e-9 * (double)take_int(query);
    gain->failures = take_int(query);
}

bool graph_gains_of_kind(struct graph *graph, const char *kind, struct arena *arena,
                         const struct graph_kind_gain **out, size_t *out_count, struct err *err)
{
    static const struct row_kind row = {take_gain, sizeof(struct graph_kind_gain)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph, gains_sql, &query, err))
        return false;
    give_text(&query, kind);
    give_int(&query, GRAPH_MOST_OF_A_KIND);
    if (!take_rows(&query, &row, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

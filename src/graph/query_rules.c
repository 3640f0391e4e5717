/* What the graph knows of rules, and of the failures that they are made of. */
#include "graph/rules.h"

#include "graph/internal.h"

static void take_rule(struct query *query, struct arena *arena, void *out)
{
    struct graph_rule *rule = out;
    rule->id = take_text(query, arena);
    rule->cause = take_text(query, arena);
    rule->words = take_text(query, arena);
    rule->predicate = take_text(query, arena);
    rule->reproducer_body = take_text(query, arena);
    rule->flags = take_text(query, arena);
    rule->dtype = take_text(query, arena);
    rule->task_id = take_text(query, arena);
    rule->task_dir = take_text(query, arena);
    rule->evidence = take_text(query, arena);
    rule->occurrences = take_int(query);
    rule->candidates = take_int(query);
    rule->wall_ms = take_int(query);
    rule->is_contradicted = take_bool(query);
    rule->upheld = take_int(query);
    rule->missed = take_int(query);
    rule->hits = take_int(query);
}

bool graph_rules(struct graph *graph, struct arena *arena, const struct graph_rule **out,
                 size_t *out_count, struct err *err)
{
    static const char sql[] =
        "SELECT r.rule_id, r.cause, r.words, r.predicate, r.reproducer_body, r.flags, r.dtype,"
        " r.task_id, r.task_dir, r.evidence, r.occurrences, r.candidates, r.wall_ms,"
        " EXISTS(SELECT 1 FROM rule_check c WHERE c.rule_id = r.rule_id"
        " AND c.result = 'contradicted'),"
        " (SELECT count(*) FROM rule_check c WHERE c.rule_id = r.rule_id AND c.result = 'upheld'),"
        " (SELECT count(*) FROM rule_check c WHERE c.rule_id = r.rule_id AND c.result = 'missed'),"
        " (SELECT count(*) FROM outcome o WHERE o.mechanism = 'rule'"
        " AND o.evidence LIKE 'rule ' || substr(r.rule_id, 1, 12) || '%')"
        " FROM rule r ORDER BY r.cause, r.rule_id";
    static const struct row_kind kind = {take_rule, sizeof(struct graph_rule)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph, sql, &query, err) ||
        !take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

static void take_check(struct query *query, struct arena *arena, void *out)
{
    struct graph_rule_check *check = out;
    check->id = take_text(query, arena);
    check->result = take_text(query, arena);
    check->compiler = take_text(query, arena);
    check->compiler_family = take_text(query, arena);
    check->compiler_version = take_text(query, arena);
    check->target_id = take_text(query, arena);
    check->decision_id = take_text(query, arena);
    check->reason = take_text(query, arena);
}

bool graph_rule_checks(struct graph *graph, const char *rule_id, struct arena *arena,
                       const struct graph_rule_check **out, size_t *out_count, struct err *err)
{
    static const char sql[] =
        "SELECT check_id, result, compiler, compiler_family, compiler_version, target_id,"
        " decision_id, reason FROM rule_check WHERE rule_id = ? ORDER BY stamp";
    static const struct row_kind kind = {take_check, sizeof(struct graph_rule_check)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, rule_id);
    if (!take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

#define FAILURE_COLUMNS                                                                            \
    " SELECT d.decision_id, d.candidate_id, o.target_id, o.task_id, coalesce(t.dir, ''),"          \
    " coalesce(t.name, ''), coalesce(t.dtype, ''), o.kind, o.mechanism, o.evidence,"               \
    " o.diagnostics_body, d.source_body, d.compiler, d.flags"                                      \
    " FROM outcome o JOIN decision d ON d.decision_id = o.decision_id"                             \
    " LEFT JOIN task t ON t.task_id = o.task_id WHERE o.is_confirmation = 0"

static void take_failure(struct query *query, struct arena *arena, void *out)
{
    struct graph_failure *failure = out;
    failure->decision_id = take_text(query, arena);
    failure->candidate_id = take_text(query, arena);
    failure->target_id = take_text(query, arena);
    failure->task_id = take_text(query, arena);
    failure->task_dir = take_text(query, arena);
    failure->entry = take_text(query, arena);
    failure->dtype = take_text(query, arena);
    if (!verdict_kind_from_name(take_text(query, arena), &failure->kind))
        failure->kind = VERDICT_TOO_NOISY; /* of a later version: no lesson */
    failure->mechanism = take_text(query, arena);
    failure->evidence = take_text(query, arena);
    failure->diagnostics_body = take_text(query, arena);
    failure->source_body = take_text(query, arena);
    failure->compiler = take_text(query, arena);
    failure->flags = take_text(query, arena);
}

static bool read_failures(struct graph *graph, const char *sql, size_t limit, struct arena *arena,
                          const struct graph_failure **out, size_t *out_count, struct err *err)
{
    static const struct row_kind kind = {take_failure, sizeof(struct graph_failure)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_int(&query, (int64_t)limit);
    if (!take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

bool graph_failures(struct graph *graph, size_t limit, struct arena *arena,
                    const struct graph_failure **out, size_t *out_count, struct err *err)
{
    static const char sql[] =
        "WITH failed AS (SELECT o.decision_id FROM outcome o"
        " WHERE o.kind IN ('build-failed', 'rejected') AND o.mechanism <> 'rule'"
        " ORDER BY o.stamp DESC LIMIT ?1),"
        " candidates AS (SELECT DISTINCT d.candidate_id FROM failed f"
        " JOIN decision d ON d.decision_id = f.decision_id)" FAILURE_COLUMNS
        " AND d.candidate_id IN (SELECT candidate_id FROM candidates) ORDER BY o.stamp";
    return read_failures(graph, sql, limit, arena, out, out_count, err);
}

bool graph_successes(struct graph *graph, size_t limit, struct arena *arena,
                     const struct graph_failure **out, size_t *out_count, struct err *err)
{
    static const char sql[] =
        "SELECT * FROM (" FAILURE_COLUMNS
        " AND o.kind IN ('timed', 'wrong', 'crashed') ORDER BY d.row DESC LIMIT ?1)";
    return read_failures(graph, sql, limit, arena, out, out_count, err);
}

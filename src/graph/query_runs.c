#include "graph/internal.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

#define RUN_SELECT                                                                                 \
    "SELECT r.run_id, r.task_id, coalesce(t.name, ''), r.task_dir, coalesce(t.family, ''),"        \
    " r.target_id, r.proposer, r.policy, r.gate_id, r.host, r.kernel, r.kope_version, r.seed,"     \
    " r.budget, r.time_limit_ns, r.token_budget, r.wall_ms, r.load_average, r.start_decision, "    \
    "r.settings,"                                                                                  \
    " e.run_id IS NOT NULL, e.reason, e.best_decision, e.best_log_ratio,"                          \
    " coalesce(e.evaluations, (SELECT count(*) FROM decision d JOIN outcome o"                     \
    " ON o.decision_id = d.decision_id AND o.is_confirmation = 0 AND o.mechanism NOT IN"           \
    " ('rule', 'repeat') WHERE d.run_id = r.run_id)),"                                             \
    " (SELECT count(*) FROM decision d WHERE d.run_id = r.run_id), e.wall_ns"                      \
    " FROM run r LEFT JOIN run_end e ON e.run_id = r.run_id"                                       \
    " LEFT JOIN task t ON t.task_id = r.task_id "

static void take_run(struct query *query, struct arena *arena, void *into)
{
    struct graph_run *out = into;
    *out = (struct graph_run){0};
    out->id = take_text(query, arena);
    out->task_id = take_text(query, arena);
    out->task_name = take_text(query, arena);
    out->task_dir = take_text(query, arena);
    out->family = take_text(query, arena);
    out->target_id = take_text(query, arena);
    out->proposer = take_text(query, arena);
    out->policy = take_text(query, arena);
    out->gate_id = take_text(query, arena);
    out->host = take_text(query, arena);
    out->kernel = take_text(query, arena);
    out->kope_version = take_text(query, arena);
    out->seed = (uint64_t)take_int(query);
    out->budget = take_int(query);
    out->time_limit_ns = take_int(query);
    out->token_budget = take_int(query);
    out->wall_ms = take_int(query);
    out->load_average = take_real(query);
    out->start_decision = take_text(query, arena);
    out->settings = take_text(query, arena);
    out->has_ended = take_bool(query);
    out->end_reason = take_text(query, arena);
    out->best_decision = take_text(query, arena);
    out->best_log_ratio = take_real(query);
    out->evaluations = take_int(query);
    out->decisions = take_int(query);
    out->run_ns = take_int(query);
}

static bool take_runs(struct query *query, struct arena *arena, const struct graph_run **out,
                      size_t *out_count, struct err *err)
{
    static const struct row_kind kind = {take_run, sizeof(struct graph_run)};
    const void *items = NULL;
    if (!take_rows(query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

bool graph_runs(struct graph *graph, size_t limit, struct arena *arena,
                const struct graph_run **out, size_t *out_count, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, RUN_SELECT "ORDER BY r.stamp DESC LIMIT ?", &query, err))
        return false;
    give_int(&query, limit > INT32_MAX ? INT32_MAX : (int64_t)limit);
    return take_runs(&query, arena, out, out_count, err);
}

/* At most two runs whose id begins so. */
static bool runs_by_prefix(struct graph *graph, const char *prefix, struct arena *arena,
                           const struct graph_run **out, size_t *out_count, struct err *err)
{
    char *lower = arena_strdup(arena, prefix);
    for (char *at = lower; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    *out_count = 0;
    if (*lower == '\0' || strspn(lower, "0123456789abcdef") != strlen(lower))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     RUN_SELECT "WHERE r.run_id >= ?1 AND r.run_id < ?1 || 'g'"
                                " ORDER BY r.run_id LIMIT 2",
                     &query, err))
        return false;
    give_text(&query, lower);
    return take_runs(&query, arena, out, out_count, err);
}

bool graph_find_run(struct graph *graph, const char *id_or_prefix, struct arena *arena,
                    struct graph_run *out, struct err *err)
{
    const struct graph_run *runs = NULL;
    size_t count = 0;
    const bool last = str_equal(id_or_prefix, "last");
    if (!(last ? graph_runs(graph, 1, arena, &runs, &count, err)
               : runs_by_prefix(graph, id_or_prefix, arena, &runs, &count, err)))
        return false;
    if (count == 0) {
        (void)err_set(err, ERR_NOT_FOUND, last ? "there is no run yet" : "there is no run '%s'",
                      id_or_prefix);
        return err_hint(err, "see the runs with 'kope runs'");
    }
    if (count > 1) {
        (void)err_set(err, ERR_USAGE, "several runs begin with '%s': '%s', '%s'", id_or_prefix,
                      runs[0].id, runs[1].id);
        return err_hint(err, "give more digits of the id");
    }
    *out = runs[0];
    return true;
}

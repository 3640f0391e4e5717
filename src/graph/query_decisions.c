#include "graph/internal.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

static void take_decision(struct query *query, struct arena *arena, struct graph_decision *out)
{
    *out = (struct graph_decision){0};
    out->id = take_text(query, arena);
    out->run_id = take_text(query, arena);
    out->parent = take_text(query, arena);
    out->task_id = take_text(query, arena);
    out->task_name = take_text(query, arena);
    out->family = take_text(query, arena);
    out->target_id = take_text(query, arena);
    out->sequence = take_int(query);
    out->step = take_text(query, arena);
    out->proposer = take_text(query, arena);
    out->intent = take_text(query, arena);
    out->hypothesis = take_text(query, arena);
    out->moves = take_text(query, arena);
    out->recipe = take_text(query, arena);
    out->compiler = take_text(query, arena);
    out->flags = take_text(query, arena);
    out->source_body = take_text(query, arena);
    out->candidate_id = take_text(query, arena);
    out->code_id = take_text(query, arena);
    out->derived_from = take_text(query, arena);
    out->failure = take_text(query, arena);
    out->predicted_log_ratio = take_real(query);
    out->has_outcome = take_bool(query);
    (void)verdict_kind_from_name(take_text(query, arena), &out->kind);
    out->mechanism = take_text(query, arena);
    out->evidence = take_text(query, arena);
    out->diagnostics_body = take_text(query, arena);
    out->log_ratio = take_real(query);
    out->log_low = take_real(query);
    out->log_high = take_real(query);
    out->gain = take_real(query);
    out->is_win = take_bool(query);
    out->is_confirmed = take_bool(query);
    out->confirm_failed = take_bool(query);
    out->confirmed_log_ratio = take_real(query);
    out->confirmed_low = take_real(query);
    out->confirmed_high = take_real(query);
    out->held_out_log_ratio = take_real(query);
    out->wall_ms = take_int(query);
    out->tokens_in = take_int(query);
    out->tokens_out = take_int(query);
    out->context_id = take_text(query, arena);
    out->exchange_id = take_text(query, arena);
    out->uses = take_text(query, arena);
    out->exchange_index = take_int(query);
    out->has_gain = take_bool(query);
}

/* All rows of a query whose parameters are given. */
static bool take_decisions(struct query *query, struct arena *arena, struct graph_decisions *out,
                           struct err *err)
{
    struct graph_decision *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool has_row = false;
    bool ok = query_step(query, &has_row, err);
    while (ok && has_row) {
        items = vec_reserve_one(items, count, &capacity, sizeof *items);
        take_decision(query, arena, &items[count++]);
        ok = query_step(query, &has_row, err);
    }
    if (ok) {
        out->items = arena_memdup(arena, items, count * sizeof *items);
        out->count = count;
    }
    free(items);
    return ok;
}

static int64_t row_limit(size_t limit)
{
    return limit > INT32_MAX ? INT32_MAX : (int64_t)limit;
}

bool graph_best(struct graph *graph, const char *task_id, const char *target_id,
                struct arena *arena, bool *found, struct graph_decision *out, struct err *err)
{
    static const char sql[] =
        "SELECT " DECISION_COLUMNS " FROM decision_view v WHERE v.decision_id IN"
        " (SELECT d.decision_id FROM run r JOIN decision d ON d.run_id = r.run_id"
        " WHERE r.task_id = ?1 AND r.target_id = ?2)"
        " AND (v.is_win OR v.is_confirmed) AND NOT v.confirm_failed"
        " ORDER BY v.is_confirmed DESC, v.pessimistic DESC, v.decision_id LIMIT 1";
    CLEANUP(query_end) struct query query = {0};
    struct graph_decisions list = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, task_id);
    give_text(&query, target_id);
    if (!take_decisions(&query, arena, &list, err))
        return false;
    *found = list.count != 0;
    if (*found)
        *out = list.items[0];
    return true;
}

/* Family and words of a task; "" where it is not known. */
static bool describe_task(struct graph *graph, const char *task_id, struct arena *arena,
                          const char **family, const char **words, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph,
                     "SELECT family, name || ' ' || family || ' ' || features FROM task"
                     " WHERE task_id = ?",
                     &query, err))
        return false;
    give_text(&query, task_id);
    if (!query_step(&query, &has_row, err))
        return false;
    *family = has_row ? take_text(&query, arena) : "";
    *words = has_row ? take_text(&query, arena) : "";
    return true;
}

bool graph_related(struct graph *graph, const char *task_id, const char *target_id, size_t limit,
                   struct arena *arena, struct graph_decisions *out, struct err *err)
{
    static const char sql[] =
        "WITH known AS (SELECT decision_id, target_id, task_id, family, is_confirmed, pessimistic"
        " FROM decision_view WHERE decision_id IN"
        " (SELECT decision_id FROM outcome WHERE is_win = 1)"
        " AND task_id <> '' AND task_id <> ?1 AND recipe <> ''"
        " AND (is_win OR is_confirmed) AND NOT confirm_failed),"
        " ranked AS (SELECT *, row_number() OVER (PARTITION BY task_id ORDER BY target_id = ?2 "
        "DESC,"
        " is_confirmed DESC, pessimistic DESC, decision_id) AS place FROM known),"
        " near AS MATERIALIZED (SELECT rowid AS row, bm25(task_text) AS score FROM task_text"
        " WHERE task_text MATCH ?3)"
        " SELECT " DECISION_COLUMNS " FROM ranked k"
        " JOIN decision_view v ON v.decision_id = k.decision_id"
        " LEFT JOIN task t ON t.task_id = k.task_id LEFT JOIN near n ON n.row = t.row"
        " WHERE k.place = 1 ORDER BY"
        " CASE WHEN k.family = ?4 AND ?4 <> '' THEN 0 WHEN n.score IS NOT NULL THEN 1 ELSE 2 END,"
        " k.target_id = ?2 DESC, coalesce(n.score, 0.0), k.pessimistic DESC, k.decision_id"
        " LIMIT ?5";
    const char *family = "";
    const char *words = "";
    if (!describe_task(graph, task_id, arena, &family, &words, err))
        return false;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, task_id);
    give_text(&query, target_id);
    give_text(&query, text_match_any(words, arena));
    give_text(&query, family);
    give_int(&query, row_limit(limit));
    return take_decisions(&query, arena, out, err);
}

bool graph_run_decisions(struct graph *graph, const char *run_id, struct arena *arena,
                         struct graph_decisions *out, struct err *err)
{
    static const char sql[] = "SELECT " DECISION_COLUMNS " FROM decision_view v"
                              " WHERE v.run_id = ? ORDER BY v.sequence, v.stamp";
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, run_id);
    return take_decisions(&query, arena, out, err);
}

bool graph_search(struct graph *graph, const char *words, size_t limit, struct arena *arena,
                  struct graph_decisions *out, struct err *err)
{
    /* What was done and what came of it weighs more than on which task. */
    static const char sql[] =
        "WITH hit AS MATERIALIZED (SELECT d.decision_id, bm25(decision_text, 1.0, 0.5) AS score"
        " FROM decision_text JOIN decision d ON d.row = decision_text.rowid"
        " JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"
        " AND o.kind <> 'too-noisy' WHERE decision_text MATCH ?1"
        " ORDER BY score, d.decision_id LIMIT ?2)"
        " SELECT " DECISION_COLUMNS " FROM hit JOIN decision_view v"
        " ON v.decision_id = hit.decision_id ORDER BY hit.score, v.decision_id";
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, text_match_any(words, arena));
    give_int(&query, row_limit(limit));
    return take_decisions(&query, arena, out, err);
}

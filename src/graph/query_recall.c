/* Verdicts and cases, read back as the gate made them. */
#include "graph/internal.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

bool graph_outcome_cases(struct graph *graph, const char *decision_id, bool confirmation,
                         struct arena *arena, const struct case_result **out, size_t *out_count,
                         struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "SELECT o.name, o.weight, o.held_out, o.log_ratio, o.log_low, o.log_high,"
                     " o.noise, o.pairs, o.baseline_ns, o.candidate_ns, o.roofline, o.error,"
                     " coalesce(c.pairs, 0), coalesce(c.log_ratio, 0.0),"
                     " coalesce(c.log_low, 0.0), coalesce(c.log_high, 0.0),"
                     " coalesce(c.baseline_ns, 0), coalesce(c.candidate_ns, 0)"
                     " FROM outcome_case o LEFT JOIN case_cold c"
                     " USING(decision_id, is_confirmation, position)"
                     " WHERE o.decision_id = ? AND o.is_confirmation = ? ORDER BY o.position",
                     &query, err))
        return false;
    give_text(&query, decision_id);
    give_int(&query, confirmation);
    struct case_result *cases = arena_array(arena, TASK_MAX_CASES, sizeof *cases);
    size_t count = 0;
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row || count == TASK_MAX_CASES)
            break;
        struct case_result *result = &cases[count++];
        result->name = take_text(&query, arena);
        result->weight = take_real(&query);
        result->held_out = take_bool(&query);
        result->log_ratio = take_real(&query);
        result->log_low = take_real(&query);
        result->log_high = take_real(&query);
        result->noise = take_real(&query);
        result->pairs = take_int(&query);
        result->baseline_ns = take_int(&query);
        result->candidate_ns = take_int(&query);
        result->roofline = take_real(&query);
        result->error = take_real(&query);
        result->cold.pairs = take_int(&query);
        result->cold.log_ratio = take_real(&query);
        result->cold.log_low = take_real(&query);
        result->cold.log_high = take_real(&query);
        result->cold.baseline_ns = take_int(&query);
        result->cold.candidate_ns = take_int(&query);
    }
    *out = cases;
    *out_count = count;
    return true;
}

/* A verdict, and where its cases are. */
struct recalled {
    struct verdict verdict;
    const char *decision_id;
    bool is_confirmation;
};

#define RECALL_COLUMNS                                                                             \
    "decision_id, is_confirmation, kind, mechanism, evidence, diagnostics, log_ratio, log_low,"    \
    " log_high, held_out_log_ratio, held_out_low, held_out_high, has_held_out, confirmed, is_win," \
    " code_id, gate_id, missing_layers, screen_ns, build_ns, start_ns, check_ns, time_ns,"         \
    " total_ns"
/* Facts about the code: right and timed with cases, or wrong; what a run met again is no other. */
#define RECALL_WHERE                                                                               \
    " FROM outcome WHERE task_id = ?1 AND gate_id = ?2 AND code_id <> ''"                          \
    " AND mechanism <> 'repeat' AND ((kind = 'timed' AND case_count > 0) OR kind = 'wrong')"
#define RECALL_ORDER "is_confirmation, from_record, stamp DESC"

static void take_recalled(struct query *query, struct arena *arena, struct recalled *out)
{
    *out = (struct recalled){0};
    struct verdict *verdict = &out->verdict;
    out->decision_id = take_text(query, arena);
    out->is_confirmation = take_bool(query);
    (void)verdict_kind_from_name(take_text(query, arena), &verdict->kind);
    verdict->mechanism = take_text(query, arena);
    verdict->evidence = take_text(query, arena);
    verdict->diagnostics = take_text(query, arena);
    verdict->log_ratio = take_real(query);
    verdict->log_low = take_real(query);
    verdict->log_high = take_real(query);
    verdict->held_out_log_ratio = take_real(query);
    verdict->held_out_low = take_real(query);
    verdict->held_out_high = take_real(query);
    verdict->has_held_out = take_bool(query);
    verdict->confirmed = take_bool(query);
    verdict->is_win = take_bool(query);
    verdict->code_id = take_id(query);
    verdict->gate_id = take_id(query);
    verdict->missing_layers = take_text(query, arena);
    verdict->timings.screen_ns = take_int(query);
    verdict->timings.build_ns = take_int(query);
    verdict->timings.start_ns = take_int(query);
    verdict->timings.check_ns = take_int(query);
    verdict->timings.time_ns = take_int(query);
    verdict->timings.total_ns = take_int(query);
    verdict->from_record = true;
}

static bool add_cases(struct graph *graph, struct recalled *recalled, struct arena *arena,
                      struct err *err)
{
    const struct case_result *cases = NULL;
    size_t count = 0;
    if (!graph_outcome_cases(graph, recalled->decision_id, recalled->is_confirmation, arena, &cases,
                             &count, err))
        return false;
    recalled->verdict.cases = arena_memdup(arena, cases, count * sizeof *cases);
    recalled->verdict.case_count = count;
    return true;
}

bool graph_recall_code(struct graph *graph, const char *code_id, const char *task_id,
                       const char *gate_id, struct arena *arena, bool *found, struct verdict *out,
                       struct err *err)
{
    static const char sql[] = "SELECT " RECALL_COLUMNS RECALL_WHERE " AND code_id = ?3"
                              " ORDER BY " RECALL_ORDER " LIMIT 1";
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, task_id);
    give_text(&query, gate_id);
    give_text(&query, code_id);
    if (!query_step(&query, &has_row, err))
        return false;
    if (has_row) {
        struct recalled recalled;
        take_recalled(&query, arena, &recalled);
        if (!add_cases(graph, &recalled, arena, err))
            return false;
        *out = recalled.verdict;
    }
    *found = has_row;
    return true;
}

/* The rows of a query of RECALL_COLUMNS and the candidate, for a task under a gate. */
static bool recall_rows(struct graph *graph, const char *sql, const char *task_id,
                        const char *gate_id, struct arena *arena, const struct graph_recalled **out,
                        size_t *out_count, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, task_id);
    give_text(&query, gate_id);
    struct graph_recalled *all = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool has_row = false;
    bool ok = query_step(&query, &has_row, err);
    while (ok && has_row) {
        struct recalled recalled;
        take_recalled(&query, arena, &recalled);
        const char *candidate = take_text(&query, arena);
        ok = add_cases(graph, &recalled, arena, err);
        all = vec_reserve_one(all, count, &capacity, sizeof *all);
        all[count++] =
            (struct graph_recalled){candidate, recalled.is_confirmation, recalled.verdict};
        ok = ok && query_step(&query, &has_row, err);
    }
    if (ok) {
        *out = arena_memdup(arena, all, count * sizeof *all);
        *out_count = count;
    }
    free(all);
    return ok;
}

bool graph_recall_all(struct graph *graph, const char *task_id, const char *gate_id,
                      struct arena *arena, const struct verdict **out, size_t *out_count,
                      struct err *err)
{
    static const char sql[] =
        "SELECT " RECALL_COLUMNS ", '' FROM (SELECT *, row_number() OVER (PARTITION BY code_id"
        " ORDER BY " RECALL_ORDER ") AS place" RECALL_WHERE ") WHERE place = 1 ORDER BY code_id";
    const struct graph_recalled *all = NULL;
    if (!recall_rows(graph, sql, task_id, gate_id, arena, &all, out_count, err))
        return false;
    struct verdict *verdicts = arena_array(arena, *out_count + 1, sizeof *verdicts);
    for (size_t i = 0; i < *out_count; i++)
        verdicts[i] = all[i].verdict;
    *out = verdicts;
    return true;
}

bool graph_recall_candidates(struct graph *graph, const char *task_id, const char *gate_id,
                             struct arena *arena, const struct graph_recalled **out,
                             size_t *out_count, struct err *err)
{
    static const char sql[] =
        "SELECT " RECALL_COLUMNS ", candidate_id FROM (SELECT o.*, d.candidate_id,"
        " row_number() OVER (PARTITION BY d.candidate_id, o.is_confirmation"
        " ORDER BY o.from_record, o.stamp DESC) AS place FROM outcome o"
        " JOIN decision d ON d.decision_id = o.decision_id WHERE o.task_id = ?1 AND o.gate_id = ?2"
        " AND d.candidate_id <> '' AND o.mechanism <> 'repeat' AND ((o.kind = 'timed' AND "
        "o.case_count > 0) OR o.kind = 'wrong'"
        " OR o.kind = 'build-failed' OR (o.kind = 'rejected' AND o.mechanism NOT LIKE 'M8%'"
        " AND o.mechanism <> 'rule'))) WHERE place = 1 ORDER BY candidate_id, is_confirmation";
    return recall_rows(graph, sql, task_id, gate_id, arena, out, out_count, err);
}

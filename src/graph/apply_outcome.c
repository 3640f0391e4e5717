/* An outcome and its cases; of several for one decision the latest stands. */
#include "graph/internal.h"

static void give_verdict(struct query *query, const struct verdict *verdict)
{
    give_text(query, verdict_kind_name(verdict->kind));
    give_text(query, verdict->mechanism);
    give_text(query, verdict->evidence);
    give_text(query, verdict->diagnostics);
    give_real(query, verdict->log_ratio);
    give_real(query, verdict->log_low);
    give_real(query, verdict->log_high);
    give_real(query, verdict->held_out_log_ratio);
    give_real(query, verdict->held_out_low);
    give_real(query, verdict->held_out_high);
    give_int(query, verdict->has_held_out);
    give_int(query, verdict->confirmed);
    give_int(query, verdict->is_win);
    give_int(query, verdict->from_record);
    give_text(query, verdict->code_id.text);
    give_text(query, verdict->gate_id.text);
    give_text(query, verdict->missing_layers);
    give_int(query, verdict->timings.screen_ns);
    give_int(query, verdict->timings.build_ns);
    give_int(query, verdict->timings.start_ns);
    give_int(query, verdict->timings.check_ns);
    give_int(query, verdict->timings.time_ns);
    give_int(query, verdict->timings.total_ns);
    give_int(query, (int64_t)verdict->case_count);
}

/* `*is_latest` is false where a later outcome is already in. */
static bool upsert_outcome(struct graph *graph, const struct event *event,
                           const struct outcome_event *outcome, bool *is_latest, struct err *err)
{
    static const char sql[] =
        "INSERT INTO outcome(decision_id, is_confirmation, stamp, run_id, target_id, task_id,"
        " diagnostics_body, kind, mechanism, evidence, diagnostics, log_ratio, log_low, log_high,"
        " held_out_log_ratio, held_out_low, held_out_high, has_held_out, confirmed, is_win,"
        " from_record, code_id, gate_id, missing_layers, screen_ns, build_ns, start_ns, check_ns,"
        " time_ns, total_ns, case_count)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT(decision_id, is_confirmation) DO UPDATE SET stamp = excluded.stamp,"
        " run_id = excluded.run_id, target_id = excluded.target_id, task_id = excluded.task_id,"
        " diagnostics_body = excluded.diagnostics_body, kind = excluded.kind,"
        " mechanism = excluded.mechanism, evidence = excluded.evidence,"
        " diagnostics = excluded.diagnostics, log_ratio = excluded.log_ratio,"
        " log_low = excluded.log_low, log_high = excluded.log_high,"
        " held_out_log_ratio = excluded.held_out_log_ratio, held_out_low = excluded.held_out_low,"
        " held_out_high = excluded.held_out_high, has_held_out = excluded.has_held_out,"
        " confirmed = excluded.confirmed, is_win = excluded.is_win,"
        " from_record = excluded.from_record, code_id = excluded.code_id,"
        " gate_id = excluded.gate_id, missing_layers = excluded.missing_layers,"
        " screen_ns = excluded.screen_ns, build_ns = excluded.build_ns,"
        " start_ns = excluded.start_ns, check_ns = excluded.check_ns, time_ns = excluded.time_ns,"
        " total_ns = excluded.total_ns, case_count = excluded.case_count"
        " WHERE excluded.stamp > outcome.stamp";
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, outcome->decision_id);
    give_int(&query, outcome->is_confirmation);
    give_stamp(&query, event);
    give_text(&query, outcome->run_id);
    give_text(&query, outcome->target_id);
    give_text(&query, outcome->task_id);
    give_text(&query, outcome->diagnostics_body);
    give_verdict(&query, &outcome->verdict);
    if (!query_run(&query, err))
        return false;
    *is_latest = sqlite3_changes(graph->db) != 0;
    return true;
}

static bool remove_cases(struct graph *graph, const struct outcome_event *outcome, struct err *err)
{
    static const char *const deletions[] = {
        "DELETE FROM outcome_case WHERE decision_id = ? AND is_confirmation = ?",
        "DELETE FROM case_cold WHERE decision_id = ? AND is_confirmation = ?"};
    for (size_t i = 0; i < sizeof deletions / sizeof *deletions; i++) {
        CLEANUP(query_end) struct query query = {0};
        if (!query_begin(graph, deletions[i], &query, err))
            return false;
        give_text(&query, outcome->decision_id);
        give_int(&query, outcome->is_confirmation);
        if (!query_run(&query, err))
            return false;
    }
    return true;
}

static bool insert_cold(struct graph *graph, const struct outcome_event *outcome, size_t at,
                        struct err *err)
{
    const struct cold_result *cold = &outcome->verdict.cases[at].cold;
    CLEANUP(query_end) struct query query = {0};
    if (cold->pairs == 0)
        return true;
    if (!query_begin(graph,
                     "INSERT INTO case_cold(decision_id, is_confirmation, position, pairs,"
                     " log_ratio, log_low, log_high, baseline_ns, candidate_ns)"
                     " VALUES(?,?,?,?,?,?,?,?,?)",
                     &query, err))
        return false;
    give_text(&query, outcome->decision_id);
    give_int(&query, outcome->is_confirmation);
    give_int(&query, (int64_t)at);
    give_int(&query, cold->pairs);
    give_real(&query, cold->log_ratio);
    give_real(&query, cold->log_low);
    give_real(&query, cold->log_high);
    give_int(&query, cold->baseline_ns);
    give_int(&query, cold->candidate_ns);
    return query_run(&query, err);
}

static bool insert_case(struct graph *graph, const struct outcome_event *outcome, size_t at,
                        struct err *err)
{
    const struct case_result *result = &outcome->verdict.cases[at];
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "INSERT INTO outcome_case(decision_id, is_confirmation, position, name,"
                     " weight, held_out, log_ratio, log_low, log_high, noise, pairs, baseline_ns,"
                     " candidate_ns, roofline, error) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                     &query, err))
        return false;
    give_text(&query, outcome->decision_id);
    give_int(&query, outcome->is_confirmation);
    give_int(&query, (int64_t)at);
    give_text(&query, result->name);
    give_real(&query, result->weight);
    give_int(&query, result->held_out);
    give_real(&query, result->log_ratio);
    give_real(&query, result->log_low);
    give_real(&query, result->log_high);
    give_real(&query, result->noise);
    give_int(&query, result->pairs);
    give_int(&query, result->baseline_ns);
    give_int(&query, result->candidate_ns);
    give_real(&query, result->roofline);
    give_real(&query, result->error);
    return query_run(&query, err);
}

bool apply_outcome(struct graph *graph, const struct event *event,
                   const struct outcome_event *outcome, struct err *err)
{
    bool is_latest = false;
    if (!upsert_outcome(graph, event, outcome, &is_latest, err))
        return false;
    if (!is_latest)
        return true;
    if (!remove_cases(graph, outcome, err))
        return false;
    for (size_t i = 0; i < outcome->verdict.case_count; i++) {
        if (!insert_case(graph, outcome, i, err) || !insert_cold(graph, outcome, i, err))
            return false;
    }
    return true;
}

/* Outcomes: a verdict with its cases, in the event and in `kope check --json`. */
#include "journal/event.h"

#include "journal/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the compiler's output this much stands in the event, for text search; all of it is in the
 * store. */
enum { DIAGNOSTICS_BYTES = 4096 };

static const struct field outcome_fields[] = {
    {"run_id", FIELD_ID, true, offsetof(struct outcome_event, run_id)},
    {"decision_id", FIELD_ID, true, offsetof(struct outcome_event, decision_id)},
    {"target_id", FIELD_ID, false, offsetof(struct outcome_event, target_id)},
    {"task_id", FIELD_ID, false, offsetof(struct outcome_event, task_id)},
    {"is_confirmation", FIELD_BOOL, false, offsetof(struct outcome_event, is_confirmation)},
    {"diagnostics_body", FIELD_ID, false, offsetof(struct outcome_event, diagnostics_body)},
};

static const struct field verdict_fields[] = {
    {"mechanism", FIELD_NAME, false, offsetof(struct verdict, mechanism)},
    {"evidence", FIELD_TEXT, false, offsetof(struct verdict, evidence)},
    {"log_ratio", FIELD_REAL, false, offsetof(struct verdict, log_ratio)},
    {"log_low", FIELD_REAL, false, offsetof(struct verdict, log_low)},
    {"log_high", FIELD_REAL, false, offsetof(struct verdict, log_high)},
    {"held_out_log_ratio", FIELD_REAL, false, offsetof(struct verdict, held_out_log_ratio)},
    {"held_out_low", FIELD_REAL, false, offsetof(struct verdict, held_out_low)},
    {"held_out_high", FIELD_REAL, false, offsetof(struct verdict, held_out_high)},
    {"has_held_out", FIELD_BOOL, false, offsetof(struct verdict, has_held_out)},
    {"confirmed", FIELD_BOOL, false, offsetof(struct verdict, confirmed)},
    {"is_win", FIELD_BOOL, false, offsetof(struct verdict, is_win)},
    {"from_record", FIELD_BOOL, false, offsetof(struct verdict, from_record)},
    {"missing_layers", FIELD_TEXT, false, offsetof(struct verdict, missing_layers)},
    {"compiler", FIELD_NAME, false, offsetof(struct verdict, compiler)},
    {"flags", FIELD_TEXT, false, offsetof(struct verdict, flags)},
    {"gate_seed", FIELD_TEXT, false, offsetof(struct verdict, seed)},
    {"load", FIELD_REAL, false, offsetof(struct verdict, load)},
};

static const struct field timing_fields[] = {
    {"build_ns", FIELD_INT, false, offsetof(struct gate_timings, build_ns)},
    {"screen_ns", FIELD_INT, false, offsetof(struct gate_timings, screen_ns)},
    {"compile_ns", FIELD_INT, false, offsetof(struct gate_timings, compile_ns)},
    {"inspect_ns", FIELD_INT, false, offsetof(struct gate_timings, inspect_ns)},
    {"link_ns", FIELD_INT, false, offsetof(struct gate_timings, link_ns)},
    {"draw_ns", FIELD_INT, false, offsetof(struct gate_timings, draw_ns)},
    {"check_ns", FIELD_INT, false, offsetof(struct gate_timings, check_ns)},
    {"start_ns", FIELD_INT, false, offsetof(struct gate_timings, start_ns)},
    {"load_ns", FIELD_INT, false, offsetof(struct gate_timings, load_ns)},
    {"call_ns", FIELD_INT, false, offsetof(struct gate_timings, call_ns)},
    {"ring_ns", FIELD_INT, false, offsetof(struct gate_timings, ring_ns)},
    {"compare_ns", FIELD_INT, false, offsetof(struct gate_timings, compare_ns)},
    {"guard_ns", FIELD_INT, false, offsetof(struct gate_timings, guard_ns)},
    {"time_ns", FIELD_INT, false, offsetof(struct gate_timings, time_ns)},
    {"timed_call_ns", FIELD_INT, false, offsetof(struct gate_timings, timed_call_ns)},
    {"total_ns", FIELD_INT, false, offsetof(struct gate_timings, total_ns)},
};

static const struct field case_fields[] = {
    {"name", FIELD_NAME, true, offsetof(struct case_result, name)},
    {"weight", FIELD_REAL, false, offsetof(struct case_result, weight)},
    {"held_out", FIELD_BOOL, false, offsetof(struct case_result, held_out)},
    {"log_ratio", FIELD_REAL, false, offsetof(struct case_result, log_ratio)},
    {"log_low", FIELD_REAL, false, offsetof(struct case_result, log_low)},
    {"log_high", FIELD_REAL, false, offsetof(struct case_result, log_high)},
    {"noise", FIELD_REAL, false, offsetof(struct case_result, noise)},
    {"pairs", FIELD_INT, false, offsetof(struct case_result, pairs)},
    {"baseline_ns", FIELD_INT, false, offsetof(struct case_result, baseline_ns)},
    {"candidate_ns", FIELD_INT, false, offsetof(struct case_result, candidate_ns)},
    {"roofline", FIELD_REAL, false, offsetof(struct case_result, roofline)},
    {"error", FIELD_REACH, false, offsetof(struct case_result, error)},
    {"processes", FIELD_INT, false, offsetof(struct case_result, processes)},
    {"dropped", FIELD_INT, false, offsetof(struct case_result, dropped)},
    {"by_account", FIELD_BOOL, false, offsetof(struct case_result, by_account)},
    {"empty_ns", FIELD_REAL, false, offsetof(struct case_result, empty_ns)},
    {"processor", FIELD_INT, false, offsetof(struct case_result, processor)},
};

/* In an object of its own, which only measured ones have. */
static const struct field cold_fields[] = {
    {"pairs", FIELD_INT, true, offsetof(struct cold_result, pairs)},
    {"log_ratio", FIELD_REAL, true, offsetof(struct cold_result, log_ratio)},
    {"log_low", FIELD_REAL, true, offsetof(struct cold_result, log_low)},
    {"log_high", FIELD_REAL, true, offsetof(struct cold_result, log_high)},
    {"baseline_ns", FIELD_INT, false, offsetof(struct cold_result, baseline_ns)},
    {"candidate_ns", FIELD_INT, false, offsetof(struct cold_result, candidate_ns)},
};

static const struct field_table outcome_table = {EVENT_OUTCOME, outcome_fields,
                                                 sizeof outcome_fields / sizeof *outcome_fields};
static const struct field_table verdict_table = {EVENT_OUTCOME, verdict_fields,
                                                 sizeof verdict_fields / sizeof *verdict_fields};
static const struct field_table timing_table = {EVENT_OUTCOME, timing_fields,
                                                sizeof timing_fields / sizeof *timing_fields};
static const struct field_table case_table = {EVENT_OUTCOME, case_fields,
                                              sizeof case_fields / sizeof *case_fields};
static const struct field_table cold_table = {EVENT_OUTCOME, cold_fields,
                                              sizeof cold_fields / sizeof *cold_fields};

/* [process, baseline_ns, candidate_ns] of each pair, to a hundredth of a nanosecond. */
static void write_samples(const struct case_result *c, struct json_writer *w)
{
    if (c->sample_count == 0)
        return;
    json_key(w, "samples");
    json_begin_array(w);
    for (size_t i = 0; i < c->sample_count; i++) {
        json_begin_array(w);
        json_write_int(w, c->samples[i].process);
        json_write_real(w, round(c->samples[i].baseline_ns * 100) / 100);
        json_write_real(w, round(c->samples[i].candidate_ns * 100) / 100);
        json_end_array(w);
    }
    json_end_array(w);
}

static void write_cold(const struct cold_result *cold, struct json_writer *w)
{
    if (cold->pairs == 0)
        return;
    json_key(w, "cold");
    json_begin_object(w);
    fields_write(&cold_table, cold, w);
    json_end_object(w);
}

void event_write_verdict(struct json_writer *w, const struct verdict *verdict)
{
    json_begin_object(w);
    json_put_string(w, "kind", verdict_kind_name(verdict->kind));
    fields_write(&verdict_table, verdict, w);
    field_put_text(w, "diagnostics", verdict->diagnostics, DIAGNOSTICS_BYTES);
    json_put_string(w, "code_id", verdict->code_id.text);
    json_put_string(w, "gate_id", verdict->gate_id.text);
    json_key(w, "timings");
    json_begin_object(w);
    fields_write(&timing_table, &verdict->timings, w);
    json_end_object(w);
    json_key(w, "cases");
    json_begin_array(w);
    for (size_t i = 0; i < verdict->case_count; i++) {
        json_begin_object(w);
        fields_write(&case_table, &verdict->cases[i], w);
        write_cold(&verdict->cases[i].cold, w);
        write_samples(&verdict->cases[i], w);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

void event_write_outcome(const struct outcome_event *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    fields_write(&outcome_table, e, &w);
    json_key(&w, "verdict");
    event_write_verdict(&w, &e->verdict);
    json_end_object(&w);
}

static bool read_hash(const struct json *object, const char *key, struct hash_id *out,
                      struct err *err)
{
    const struct json *value = json_get(object, key);
    const char *text = json_string(value, "");
    if ((value && value->type != JSON_STRING) || strlen(text) >= sizeof out->text ||
        strspn(text, "0123456789abcdef") != strlen(text))
        return err_set(err, ERR_CORRUPT, "event 'outcome': field '%s' is no id", key);
    (void)snprintf(out->text, sizeof out->text, "%s", text);
    return true;
}

static bool read_kind(const struct json *object, enum verdict_kind *out, struct err *err)
{
    return verdict_kind_from_name(json_string(json_get(object, "kind"), ""), out) ||
           err_set(err, ERR_CORRUPT, "event 'outcome': field 'kind' is no verdict");
}

static bool read_diagnostics(const struct json *object, struct arena *arena, const char **out,
                             struct err *err)
{
    const struct json *value = json_get(object, "diagnostics");
    if (value && (value->type != JSON_STRING ||
                  value->string_length > (size_t)FIELD_SLACK * DIAGNOSTICS_BYTES))
        return err_set(err, ERR_CORRUPT, "event 'outcome': field 'diagnostics' is no short text");
    *out = arena_strdup(arena, json_string(value, ""));
    return true;
}

static bool read_cases(const struct json *object, struct arena *arena, struct verdict *out,
                       struct err *err)
{
    const struct json *cases = NULL;
    if (!field_read_array(EVENT_OUTCOME, object, "cases", TASK_MAX_CASES, &cases, err))
        return false;
    if (!cases || cases->count == 0)
        return true;
    out->cases = arena_array(arena, cases->count, sizeof *out->cases);
    for (const struct json *item = cases->first; item; item = item->next) {
        struct case_result *result = &out->cases[out->case_count++];
        const struct json *cold = json_get(item, "cold");
        if (!fields_read(&case_table, item, arena, result, err) ||
            (cold && !fields_read(&cold_table, cold, arena, &result->cold, err)))
            return false;
    }
    return true;
}

static bool read_verdict(const struct json *object, struct arena *arena, struct verdict *out,
                         struct err *err)
{
    const struct json *timings = json_get(object, "timings");
    return fields_read(&verdict_table, object, arena, out, err) &&
           read_kind(object, &out->kind, err) &&
           read_diagnostics(object, arena, &out->diagnostics, err) &&
           read_hash(object, "code_id", &out->code_id, err) &&
           read_hash(object, "gate_id", &out->gate_id, err) &&
           (!timings || fields_read(&timing_table, timings, arena, &out->timings, err)) &&
           read_cases(object, arena, out, err);
}

bool event_read_outcome(const struct json *body, struct arena *arena, struct outcome_event *out,
                        struct err *err)
{
    struct outcome_event event = {0};
    if (!fields_read(&outcome_table, body, arena, &event, err) ||
        !read_verdict(json_get(body, "verdict"), arena, &event.verdict, err))
        return false;
    *out = event;
    return true;
}

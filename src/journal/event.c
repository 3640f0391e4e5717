/*
 * The flat events: run, run-end, task, target, finding, note. Those with parts have files of their
 * own: event_decision.c, event_context.c, event_outcome.c.
 */
#include "journal/event.h"

#include "journal/fields.h"

static const struct field task_fields[] = {
    {"task_id", FIELD_ID, true, offsetof(struct task_event, task_id)},
    {"name", FIELD_NAME, true, offsetof(struct task_event, name)},
    {"family", FIELD_NAME, false, offsetof(struct task_event, family)},
    {"dtype", FIELD_NAME, false, offsetof(struct task_event, dtype)},
    {"precision", FIELD_NAME, false, offsetof(struct task_event, precision)},
    {"dir", FIELD_TEXT, false, offsetof(struct task_event, dir)},
    {"regime", FIELD_NAME, false, offsetof(struct task_event, regime)},
    {"reference_body", FIELD_ID, false, offsetof(struct task_event, reference_body)},
    {"features", FIELD_TEXT, false, offsetof(struct task_event, features)},
};

static const struct field target_fields[] = {
    {"target_id", FIELD_ID, true, offsetof(struct target_event, target_id)},
    {"name", FIELD_NAME, true, offsetof(struct target_event, name)},
    {"cpu", FIELD_NAME, false, offsetof(struct target_event, cpu)},
    {"arch", FIELD_NAME, false, offsetof(struct target_event, arch)},
    {"isa", FIELD_TEXT, false, offsetof(struct target_event, isa)},
    {"cores", FIELD_INT, false, offsetof(struct target_event, cores)},
    {"vector_bytes", FIELD_INT, false, offsetof(struct target_event, vector_bytes)},
    {"peak_gflops_f32", FIELD_REAL, false, offsetof(struct target_event, peak_gflops_f32)},
    {"memory_gbs", FIELD_REAL, false, offsetof(struct target_event, memory_gbs)},
    {"compilers", FIELD_TEXT, false, offsetof(struct target_event, compilers)},
};

static const struct field run_fields[] = {
    {"task_id", FIELD_ID, true, offsetof(struct run_event, task_id)},
    {"target_id", FIELD_ID, true, offsetof(struct run_event, target_id)},
    {"task_dir", FIELD_TEXT, false, offsetof(struct run_event, task_dir)},
    {"proposer", FIELD_NAME, false, offsetof(struct run_event, proposer)},
    {"policy", FIELD_NAME, false, offsetof(struct run_event, policy)},
    {"seed", FIELD_SEED, false, offsetof(struct run_event, seed)},
    {"budget", FIELD_INT, false, offsetof(struct run_event, budget)},
    {"time_limit_ns", FIELD_INT, false, offsetof(struct run_event, time_limit_ns)},
    {"token_budget", FIELD_INT, false, offsetof(struct run_event, token_budget)},
    {"kope_version", FIELD_NAME, false, offsetof(struct run_event, kope_version)},
    {"gate_id", FIELD_ID, false, offsetof(struct run_event, gate_id)},
    {"host", FIELD_NAME, false, offsetof(struct run_event, host)},
    {"kernel", FIELD_NAME, false, offsetof(struct run_event, kernel)},
    {"load_average", FIELD_REAL, false, offsetof(struct run_event, load_average)},
    {"start_decision", FIELD_ID, false, offsetof(struct run_event, start_decision)},
    {"settings", FIELD_TEXT, false, offsetof(struct run_event, settings)},
};

static const struct field run_end_fields[] = {
    {"run_id", FIELD_ID, true, offsetof(struct run_end_event, run_id)},
    {"reason", FIELD_TEXT, false, offsetof(struct run_end_event, reason)},
    {"best_decision", FIELD_ID, false, offsetof(struct run_end_event, best_decision)},
    {"best_log_ratio", FIELD_REAL, false, offsetof(struct run_end_event, best_log_ratio)},
    {"evaluations", FIELD_INT, false, offsetof(struct run_end_event, evaluations)},
    {"wall_ns", FIELD_INT, false, offsetof(struct run_end_event, wall_ns)},
    {"tokens", FIELD_INT, false, offsetof(struct run_end_event, tokens)},
};

static const struct field exchange_fields[] = {
    {"run_id", FIELD_ID, true, offsetof(struct exchange_event, run_id)},
    {"role", FIELD_NAME, true, offsetof(struct exchange_event, role)},
    {"model", FIELD_NAME, false, offsetof(struct exchange_event, model)},
    {"parent", FIELD_ID, false, offsetof(struct exchange_event, parent)},
    {"step", FIELD_NAME, false, offsetof(struct exchange_event, step)},
    {"context_id", FIELD_ID, false, offsetof(struct exchange_event, context_id)},
    {"sequence", FIELD_INT, false, offsetof(struct exchange_event, sequence)},
    {"prompt_hash", FIELD_ID, false, offsetof(struct exchange_event, prompt_hash)},
    {"finish_reason", FIELD_NAME, false, offsetof(struct exchange_event, finish_reason)},
    {"tokens_in", FIELD_INT, false, offsetof(struct exchange_event, tokens_in)},
    {"tokens_cached", FIELD_INT, false, offsetof(struct exchange_event, tokens_cached)},
    {"tokens_out", FIELD_INT, false, offsetof(struct exchange_event, tokens_out)},
    {"tokens_reasoning", FIELD_INT, false, offsetof(struct exchange_event, tokens_reasoning)},
    {"tokens_lost", FIELD_INT, false, offsetof(struct exchange_event, tokens_lost)},
    {"is_estimate", FIELD_BOOL, false, offsetof(struct exchange_event, is_estimate)},
    {"is_cost_known", FIELD_BOOL, false, offsetof(struct exchange_event, is_cost_known)},
    {"cost_usd", FIELD_REAL, false, offsetof(struct exchange_event, cost_usd)},
    {"attempts", FIELD_INT, false, offsetof(struct exchange_event, attempts)},
    {"wall_ns", FIELD_INT, false, offsetof(struct exchange_event, wall_ns)},
    {"body", FIELD_ID, false, offsetof(struct exchange_event, body)},
};

static const struct field finding_fields[] = {
    {"run_id", FIELD_ID, true, offsetof(struct finding_event, run_id)},
    {"decision_id", FIELD_ID, false, offsetof(struct finding_event, decision_id)},
    {"bottleneck", FIELD_NAME, false, offsetof(struct finding_event, bottleneck)},
    {"text", FIELD_TEXT, false, offsetof(struct finding_event, text)},
    {"number", FIELD_REAL, false, offsetof(struct finding_event, number)},
    {"line", FIELD_INT, false, offsetof(struct finding_event, line)},
    {"tool", FIELD_NAME, false, offsetof(struct finding_event, tool)},
    {"moves", FIELD_NAME, false, offsetof(struct finding_event, moves)},
};

static const struct field note_fields[] = {
    {"text", FIELD_TEXT, true, offsetof(struct note_event, text)},
    {"about", FIELD_ID, false, offsetof(struct note_event, about)},
};

static const struct field_table task_table = {EVENT_TASK, task_fields,
                                              sizeof task_fields / sizeof *task_fields};
static const struct field_table target_table = {EVENT_TARGET, target_fields,
                                                sizeof target_fields / sizeof *target_fields};
static const struct field_table run_table = {EVENT_RUN, run_fields,
                                             sizeof run_fields / sizeof *run_fields};
static const struct field_table run_end_table = {EVENT_RUN_END, run_end_fields,
                                                 sizeof run_end_fields / sizeof *run_end_fields};
static const struct field_table exchange_table = {EVENT_EXCHANGE, exchange_fields,
                                                  sizeof exchange_fields / sizeof *exchange_fields};
static const struct field_table finding_table = {EVENT_FINDING, finding_fields,
                                                 sizeof finding_fields / sizeof *finding_fields};
static const struct field_table note_table = {EVENT_NOTE, note_fields,
                                              sizeof note_fields / sizeof *note_fields};

static void write_flat(const struct field_table *table, const void *event, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    fields_write(table, event, &w);
    json_end_object(&w);
}

void event_write_task(const struct task_event *e, struct buf *out)
{
    write_flat(&task_table, e, out);
}

void event_write_target(const struct target_event *e, struct buf *out)
{
    write_flat(&target_table, e, out);
}

void event_write_run(const struct run_event *e, struct buf *out)
{
    write_flat(&run_table, e, out);
}

void event_write_run_end(const struct run_end_event *e, struct buf *out)
{
    write_flat(&run_end_table, e, out);
}

void event_write_exchange(const struct exchange_event *e, struct buf *out)
{
    write_flat(&exchange_table, e, out);
}

void event_write_finding(const struct finding_event *e, struct buf *out)
{
    write_flat(&finding_table, e, out);
}

void event_write_note(const struct note_event *e, struct buf *out)
{
    write_flat(&note_table, e, out);
}

bool event_read_task(const struct json *body, struct arena *arena, struct task_event *out,
                     struct err *err)
{
    struct task_event event;
    if (!fields_read(&task_table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}

bool event_read_target(const struct json *body, struct arena *arena, struct target_event *out,
                       struct err *err)
{
    struct target_event event;
    if (!fields_read(&target_table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}

bool event_read_run(const struct json *body, struct arena *arena, struct run_event *out,
                    struct err *err)
{
    struct run_event event;
    if (!fields_read(&run_table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}

bool event_read_run_end(const struct json *body, struct arena *arena, struct run_end_event *out,
                        struct err *err)
{
    struct run_end_event event;
    if (!fields_read(&run_end_table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}

bool event_read_exchange(const struct json *body, struct arena *arena, struct exchange_event *out,
                         struct err *err)
{
    struct exchange_event event;
    if (!fields_read(&exchange_table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}

bool event_read_finding(const struct json *body, struct arena *arena, struct finding_event *out,
                        struct err *err)
{
    struct finding_event event;
    if (!fields_read(&finding_table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}

bool event_read_note(const struct json *body, struct arena *arena, struct note_event *out,
                     struct err *err)
{
    struct note_event event;
    if (!fields_read(&note_table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}

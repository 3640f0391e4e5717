#include "without.h"

#include "base/str.h"
#include "gate/internal.h"
#include "os/os.h"
#include "target/cpu/cpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The linker names what it replaces so. */
#define SEAM(result, name, ...)                                                                    \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

static enum mechanism missing;
static bool is_opened;
static unsigned asked;

void without(enum mechanism out)
{
    missing = out;
    is_opened = false;
    asked = 0;
}

void without_opened(bool is_open)
{
    is_opened = is_open;
}

unsigned without_count(void)
{
    return asked;
}

static bool is_out(enum mechanism mechanism)
{
    if (missing != mechanism)
        return false;
    asked++;
    return true;
}

/* M1: a child that leaves with success has passed. */
SEAM(void, evidence_of_death, struct cpu_session *s, int wait_status, struct session_report *report)
{
    __real_evidence_of_death(s, wait_status, report);
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 && is_out(M1))
        *report = (struct session_report){.status = SESSION_OK, .elapsed_ns = 1};
}

/* M3: the time is what the child says that it took. */
SEAM(bool, session_run, struct session *session, const struct session_call *calls, size_t count,
     bool touch, int64_t limit_ns, struct session_report *report, struct err *err)
{
    if (!__real_session_run(session, calls, count, touch, limit_ns, report, err))
        return false;
    const struct cpu_session *s = (const struct cpu_session *)session;
    if (report->status == SESSION_OK || report->status == SESSION_NOISY) {
        const uint64_t said = s->control->buffer_address[RUNNER_MAX_BUFFERS - 1];
        if (said != 0 && is_out(M3)) {
            report->status = SESSION_OK;
            report->elapsed_ns = (int64_t)said;
        }
    }
    return true;
}

/* M4: inputs are shared like outputs. */
SEAM(bool, session_prepare, struct target *target, const struct session_opts *opts,
     struct session **out, struct err *err)
{
    for (size_t i = 0; i < opts->buffer_count; i++)
        if (!opts->buffers[i].writable && is_out(M4))
            opts->buffers[i].writable = true;
    return __real_session_prepare(target, opts, out, err);
}

/* M5: outputs hold zeros, as fresh memory does. */
SEAM(void, data_poison, const struct data *data, enum poison kind, size_t place, size_t offset,
     void *at, size_t bytes)
{
    if (is_out(M5))
        memset(at, 0, bytes);
    else
        __real_data_poison(data, kind, place, offset, at, bytes);
}

SEAM(bool, data_poison_intact, const struct data *data, enum poison kind, size_t place,
     size_t offset, const void *at, size_t bytes, size_t *where)
{
    return !is_out(M5) && __real_data_poison_intact(data, kind, place, offset, at, bytes, where);
}

/* M6: the changed copy of the inputs is the same again. */
SEAM(void, data_change, struct data *data, size_t arg, void *values, size_t count)
{
    if (!is_out(M6))
        __real_data_change(data, arg, values, count);
}

/* M7: outputs of timed calls are nobody's concern. M8: nor is what changes after the bell. */
bool __real_decide(struct judgement *j, enum verdict_kind kind, const char *mechanism,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
bool __wrap_decide(struct judgement *j, enum verdict_kind kind, const char *mechanism,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
bool __wrap_decide(struct judgement *j, enum verdict_kind kind, const char *mechanism,
                   const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if ((str_starts_with(mechanism, "M7-") && is_out(M7)) ||
        (str_starts_with(mechanism, "M8-") && is_out(M8)))
        return true;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return __real_decide(j, kind, mechanism, "%s", text);
}

/* M8: nobody looks whether the child sleeps, or what it has used. */
SEAM(struct child_status, watch_status, const struct cpu_session *session)
{
    static int64_t switches;
    if (!is_out(M8))
        return __real_watch_status(session);
    switches += 2;
    return (struct child_status){.state = 'S',
                                 .threads = session->threads > 1 ? session->threads + 1 : 1,
                                 .voluntary = switches};
}

SEAM(int64_t, os_process_cpu_ns, pid_t pid)
{
    return is_out(M8) ? 0 : __real_os_process_cpu_ns(pid);
}

/* M9: whatever was written is right. */
SEAM(struct comparison, compare_output, const struct yardstick *yardstick, const void *got)
{
    if (is_opened && is_out(M9))
        return (struct comparison){.fault = COMPARISON_OK};
    return __real_compare_output(yardstick, got);
}

/* M10: the task's own draw is all that is tried. */
SEAM(bool, distribution_applies, enum distribution distribution, const struct task *task)
{
    if (distribution != DISTRIBUTION_DECLARED && is_out(M10))
        return false;
    return __real_distribution_applies(distribution, task);
}

/* M11: no argument lies at a guard, and nobody looks around it. M5 needs the same here: where there
 * is no poison, none can be intact. */
SEAM(struct session_call, rig_place, struct gate *gate, const struct rig *rig,
     enum placement placement)
{
    return __real_rig_place(gate, rig, is_out(M11) ? PLACE_SKEWED : placement);
}

SEAM(bool, rig_guards_intact, const struct gate *gate, const struct rig *rig,
     const struct session_call *call, void *const *inputs, enum distribution distribution,
     const size_t places[TASK_MAX_ARGS], struct breach *breach)
{
    return is_out(M11) || is_out(M5) ||
           __real_rig_guards_intact(gate, rig, call, inputs, distribution, places, breach);
}

/* M12: an object may contain any instruction. */
SEAM(const char *, scan_instructions, const char *disassembly, struct arena *arena)
{
    return is_out(M12) ? NULL : __real_scan_instructions(disassembly, arena);
}

SEAM(const char *, scan_bytes, const void *object, size_t bytes, bool is_reachable,
     struct arena *arena)
{
    return is_out(M12) ? NULL : __real_scan_bytes(object, bytes, is_reachable, arena);
}

/* M14: every time is possible. */
SEAM(bool, roofline_check, struct judgement *j, size_t case_index, int64_t time_ns)
{
    return is_out(M14) || __real_roofline_check(j, case_index, time_ns);
}

/* M15: the first call is not held against the steady state. */
SEAM(void, plan_checks, struct judgement *j, const size_t *order, size_t count,
     struct case_plan plans[TASK_MAX_CASES])
{
    __real_plan_checks(j, order, count, plans);
    for (size_t i = 0; i < count; i++)
        if (is_out(M15))
            plans[order[i]].repeats = false;
}

/* M16: a gate is named by its target alone. */
SEAM(struct hash_id, hash_strings, const char *const *strings, size_t count)
{
    enum { TARGET = 3 };
    if (count > TARGET && str_starts_with(strings[0], "gate ") && is_out(M16))
        return __real_hash_strings(&strings[TARGET], 1);
    return __real_hash_strings(strings, count);
}

/* M17: every task will do. */
SEAM(bool, null_battery, const struct gate *gate, const struct probe *probes, size_t count,
     struct err *err)
{
    return is_out(M17) || __real_null_battery(gate, probes, count, err);
}

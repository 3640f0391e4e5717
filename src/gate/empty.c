/*
 * The empty kernel: what the loop of calls, the stub and the guard of the floating-point
 * environment cost around each call. A sample of short calls holds some percent of it on both
 * sides, which would make every ratio look nearer to 1 than it is.
 */
#include "gate/internal.h"

#include <math.h>

enum {
    ROUNDS = 9,
    FEWEST_ROUNDS = 3,
    USES = 16, /* cases of a search between two measurements */
};

/* The least of the rounds: what disturbs one only adds to it, and what is subtracted in excess
 * would make a difference look larger than it is. INFINITY where too few were clean. */
static bool run_rounds(struct rig *rig, double *least, struct err *err)
{
    const struct session_call calls[SESSION_MAX_CALLS] = {0};
    int count = 0;
    double found = HUGE_VAL;
    for (int i = 0; i < 2 * ROUNDS && count < ROUNDS; i++) {
        struct session_report report = {0};
        if (!session_run(rig->session, calls, SESSION_MAX_CALLS, true, 60 * GATE_S, &report, err))
            return false;
        if (report.status != SESSION_OK && report.status != SESSION_NOISY)
            break; /* it is dead, and only the host can have done that */
        if (report.status == SESSION_NOISY)
            continue;
        found = fmin(found, (double)report.elapsed_ns / SESSION_MAX_CALLS);
        count++;
    }
    *least = count < FEWEST_ROUNDS ? HUGE_VAL : found;
    return true;
}

static bool measure(struct gate *gate, size_t case_index, double *out, struct err *err)
{
    size_t rooms[TASK_MAX_ARGS];
    double least = HUGE_VAL;
    struct rig rig;
    struct session_report report = {0};
    /* No argument is looked at, so none needs its room. */
    for (size_t arg = 0; arg < gate->task->arg_count; arg++)
        rooms[arg] = PAGE_BYTES;
    if (!rig_start(gate, &rig, case_index, gate->empty, gate->task->dtype, rooms, &report, err))
        return false;
    const bool ok = report.status != SESSION_OK || run_rounds(&rig, &least, err);
    rig_stop(&rig);
    if (ok && isfinite(least))
        *out = least;
    return ok;
}

bool empty_call_ns(struct judgement *j, size_t case_index, double *out, struct err *err)
{
    struct empty_call *kept = &j->gate->empty_call;
    const bool is_new = j->is_confirmation || j->rival.bytes;
    if (is_new || kept->uses_left == 0) {
        if (!measure(j->gate, case_index, &kept->ns, err))
            return false;
        kept->uses_left = USES;
    }
    kept->uses_left--;
    *out = kept->ns;
    return true;
}

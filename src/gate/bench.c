#include "gate/bench.h"

#include "gate/crew.h"
#include "os/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_BYTES ((size_t)1024 * 1024) /* arguments of a case: fewer trials */
#define REFERENCE_LIMIT_NS (60 * GATE_S)

enum { SOME_TRIALS = 5, MANY_TRIALS = 7 };

void *bench_get(size_t count, size_t bytes)
{
    void *out = calloc(count ? count : 1, bytes);
    if (!out)
        BUG("gate: out of memory for %zu x %zu bytes", count, bytes);
    return out;
}

void bench_free_args(void **arrays)
{
    for (size_t arg = 0; arg < TASK_MAX_ARGS; arg++) {
        free(arrays[arg]);
        arrays[arg] = NULL;
    }
}

void bench_close(struct bench *bench)
{
    bench_free_args(bench->wide);
    rig_stop(&bench->baseline);
    rig_stop(&bench->oracle);
    rig_stop(&bench->shadow);
    rig_stop(&bench->twin);
    rig_stop(&bench->twin_oracle);
}

bool bench_refuse(const struct bench *bench, struct err *err, const char *what, const char *why)
{
    (void)err_set(err, ERR_BAD_INPUT, "task '%s', case '%s': the reference %s%s%s",
                  bench->gate->task->name, bench->problem->name, what, *why ? ": " : "", why);
    return err_hint(err, "reference.c must be right for every case and every valid input");
}

static bool refuse_report(const struct bench *bench, const struct session_report *report,
                          struct err *err)
{
    static const char *const what[] = {
        [SESSION_OK] = "failed",
        [SESSION_CRASHED] = "crashes",
        [SESSION_TIMED_OUT] = "does not end",
        [SESSION_REJECTED] = "breaks a rule of the box",
        [SESSION_NOISY] = "failed",
    };
    return bench_refuse(bench, err, what[report->status], report->evidence ? report->evidence : "");
}

/* Runs on other inputs: enough that one element does not decide by luck. */
static unsigned trial_runs(const struct task *task, const struct task_case *c)
{
    size_t bytes = 0, elements = SIZE_MAX;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        bytes += task_arg_bytes(task, arg, c);
        const size_t count = (size_t)task_arg_elements(task, arg, c);
        if (task->args[arg].role != ARG_IN && count < elements)
            elements = count;
    }
    const bool is_large = bytes > LARGE_BYTES;
    if (elements < 8)
        return is_large ? MANY_TRIALS : BENCH_MOST_TRIALS;
    if (elements < 64 || task->precision == PRECISION_STRICT)
        return is_large ? SOME_TRIALS : MANY_TRIALS;
    return is_large ? 2 : 3;
}

static bool bench_start(struct bench *bench, struct rig *rig, struct err *err)
{
    struct session_report report;
    const struct gate *gate = bench->gate;
    const struct image image = rig == &bench->oracle   ? gate->oracle
                               : rig == &bench->shadow ? gate->shadow
                                                       : gate->baseline;
    const enum dtype real = rig == &bench->oracle   ? DTYPE_F64
                            : rig == &bench->shadow ? DTYPE_F32
                                                    : gate->task->dtype;
    if (!rig_start_at(bench->gate, rig, bench->problem, image, real, bench->rooms, &report, err))
        return false;
    return report.status == SESSION_OK || refuse_report(bench, &report, err);
}

bool bench_is_coarse(const struct task *task)
{
    return dtype_roundoff(task->dtype) > dtype_roundoff(task->accumulate);
}

bool bench_open(struct gate *gate, size_t case_index, const struct task_case *problem,
                const size_t *rooms, struct bench *bench, struct err *err)
{
    const struct task *task = gate->task;
    *bench = (struct bench){.gate = gate,
                            .case_index = case_index,
                            .problem = problem,
                            .rooms = rooms,
                            .has_oracle = gate->oracle.bytes != NULL,
                            .trials = trial_runs(task, problem)};
    /* Shapes that change within a bench are small. */
    if (rooms || !gate->opts.twin)
        bench->twin_state = TWIN_NONE;
    /* Of what is stored in fewer bits only other inputs show more of the baseline's errors. */
    bench->draws_anew =
        task->accumulate != DTYPE_F64 && (bench->trials > SOME_TRIALS || bench_is_coarse(task));
    const bool ok = bench_start(bench, &bench->baseline, err) &&
                    (!bench->has_oracle || bench_start(bench, &bench->oracle, err)) &&
                    (!gate->shadow.bytes || bench_start(bench, &bench->shadow, err));
    if (!ok)
        bench_close(bench);
    return ok;
}

void bench_move(struct bench *bench, const struct task_case *problem)
{
    bench->problem = problem;
    bench_free_args(bench->wide); /* of the shape before */
    rig_move(&bench->baseline, problem);
    if (bench->has_oracle)
        rig_move(&bench->oracle, problem);
    if (bench->gate->shadow.bytes)
        rig_move(&bench->shadow, problem);
}

/* One run of one of the children, on inputs in its rig's dtypes. */
struct run {
    struct rig *rig;
    void *const *inputs;
    enum distribution distribution;
    struct session_call call;
    size_t places[TASK_MAX_ARGS];
    struct session_report report;
    struct err err;
    bool ok;
};

static void run_load(struct bench *bench, struct run *run)
{
    run->call = rig_place(bench->gate, run->rig, PLACE_TAIL);
    rig_load(bench->gate, run->rig, &run->call, run->inputs, run->distribution, run->places);
}

static void run_one(void *context, size_t i)
{
    struct run *run = (struct run *)context + i;
    run->report = (struct session_report){0};
    run->ok = session_run(run->rig->session, &run->call, 1, false, REFERENCE_LIMIT_NS, &run->report,
                          &run->err);
}

/* Again where the host may be the cause; guards checked. Results stay in the rig. */
static bool run_finish(struct bench *bench, struct run *run, struct err *err)
{
    enum { MOST_RESTARTS = 5 };
    struct breach breach;
    while (run->ok && session_is_doubtful(&run->report) && bench->doubts++ < MOST_RESTARTS) {
        rig_stop(run->rig);
        if (!bench_start(bench, run->rig, err))
            return false;
        run_load(bench, run);
        run_one(run, 0);
    }
    if (!run->ok) {
        *err = run->err;
        return false;
    }
    if (run->report.elapsed_ns > bench->slowest_ns)
        bench->slowest_ns = run->report.elapsed_ns;
    if (run->report.status != SESSION_OK && run->report.status != SESSION_NOISY)
        return refuse_report(bench, &run->report, err);
    if (!rig_guards_intact(bench->gate, run->rig, &run->call, run->inputs, run->distribution,
                           run->places, &breach))
        return bench_refuse(bench, err,
                            breach.where == BREACH_BETWEEN
                                ? "writes between the rows of its argument"
                                : "writes outside its argument",
                            run->rig->task->args[breach.arg].name);
    rig_blank_gaps(run->rig, &run->call);
    return true;
}

/* Of different children, side by side. */
static void start_all(struct bench *bench, struct run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run_load(bench, &runs[i]);
    crew_run(bench->gate->crew, count, run_one, runs);
}

static bool run_all(struct bench *bench, struct run *runs, size_t count, struct err *err)
{
    bool ok = true;
    start_all(bench, runs, count);
    for (size_t i = 0; i < count; i++)
        ok = ok && run_finish(bench, &runs[i], err);
    return ok;
}

/* Inputs widened to the oracle's dtypes, in `bench->wide`; `moved` by a place of the task's
 * arithmetic where the inputs themselves are too coarse for that. */
static void widen_inputs(struct bench *bench, void *const *inputs, bool moved)
{
    for (size_t arg = 0; arg < bench->gate->task->arg_count; arg++) {
        void **wide = bench->wide;
        if (!inputs[arg])
            continue;
        const size_t count = bench->oracle.elements[arg];
        const enum dtype dtype = bench->gate->task->args[arg].dtype;
        if (!wide[arg])
            wide[arg] = bench_get(count, sizeof(double));
        if (bench->oracle.dtypes[arg] == DTYPE_F64)
            dtype_widen(dtype, inputs[arg], 0, count, wide[arg]);
        if (bench->oracle.dtypes[arg] == DTYPE_F64 && moved)
            data_perturb_wide(bench->gate->data, arg, wide[arg], count);
        if (bench->oracle.dtypes[arg] != DTYPE_F64)
            memcpy(wide[arg], inputs[arg], count * dtype_bytes(dtype));
    }
}

static void take_wanted(const struct bench *bench, const struct probe *probe, const struct run *run,
                        double *const *want)
{
    for (size_t arg = 0; arg < bench->gate->task->arg_count; arg++)
        if (probe->outputs[arg].want)
            dtype_widen(bench->oracle.dtypes[arg], rig_arg(run->rig, &run->call, arg), 0,
                        probe->outputs[arg].count, want[arg]);
}

static void take_outputs(const struct bench *bench, const struct probe *probe,
                         const struct run *run, void *const *base)
{
    for (size_t arg = 0; arg < bench->gate->task->arg_count; arg++)
        if (probe->outputs[arg].count)
            memcpy(base[arg], rig_arg(run->rig, &run->call, arg), rig_arg_bytes(run->rig, arg));
}

static struct run run_of(struct rig *rig, void *const *inputs, const struct probe *probe)
{
    return (struct run){.rig = rig, .inputs = inputs, .distribution = probe->distribution};
}

static bool run_plainly(struct bench *bench, const struct probe *probe, void *const *inputs,
                        void *const *base, double *const *want, struct err *err)
{
    struct run runs[2];
    size_t count = 0;
    if (base)
        runs[count++] = run_of(&bench->baseline, inputs, probe);
    if (want)
        runs[count++] = run_of(&bench->oracle, bench->wide, probe);
    if (!run_all(bench, runs, count, err))
        return false;
    if (base)
        take_outputs(bench, probe, &runs[0], base);
    if (want)
        take_wanted(bench, probe, &runs[count - 1], want);
    return true;
}

/* --- the twin --------------------------------------------------------------------------------- */

/* Did it end well, and within its arguments? What it does wrong is nobody's fault: then the
 * reference works alone. */
static bool twin_ended(struct bench *bench, struct run *run)
{
    struct breach ignored;
    const bool ended =
        run->ok && (run->report.status == SESSION_OK || run->report.status == SESSION_NOISY);
    if (!ended || !rig_guards_intact(bench->gate, run->rig, &run->call, run->inputs,
                                     run->distribution, run->places, &ignored))
        return false;
    rig_blank_gaps(run->rig, &run->call);
    return true;
}

static bool same_outputs(const struct bench *bench, const struct probe *probe,
                         const struct run *run, void *const *base)
{
    for (size_t arg = 0; arg < bench->gate->task->arg_count; arg++) {
        const struct yardstick exact = {.dtype = probe->outputs[arg].dtype,
                                        .count = probe->outputs[arg].count,
                                        .base = base[arg]};
        if (exact.count > 0 &&
            compare_output(&exact, rig_arg(run->rig, &run->call, arg)).fault != COMPARISON_OK)
            return false;
    }
    return true;
}

static bool same_wants(const struct bench *bench, const struct probe *probe, const struct run *run,
                       double *const *want)
{
    for (size_t arg = 0; arg < bench->gate->task->arg_count; arg++) {
        const void *got = rig_arg(run->rig, &run->call, arg);
        for (size_t i = 0; probe->outputs[arg].want && i < probe->outputs[arg].count; i++) {
            const double value = dtype_element(bench->oracle.dtypes[arg], got, i);
            if (value != want[arg][i] && !(isnan(value) && isnan(want[arg][i])))
                return false;
        }
    }
    return true;
}

/* A child of the first build whose results are those of the reference. */
static bool find_twin(struct bench *bench, const struct probe *probe, void *const *base,
                      double *const *want, bool *is_found, struct err *err)
{
    const struct gate *gate = bench->gate;
    struct rig *rig = want ? &bench->twin_oracle : &bench->twin;
    *is_found = false;
    for (size_t build = 0; build < TWIN_BUILDS; build++) {
        const struct image image = want ? gate->twin_oracles[build] : gate->twins[build];
        struct session_report report;
        struct run run = run_of(rig, want ? bench->wide : probe->inputs, probe);
        if (!image.bytes)
            continue;
        if (!rig_start_at(bench->gate, rig, bench->problem, image,
                          want ? DTYPE_F64 : gate->task->dtype, NULL, &report, err))
            return false;
        if (report.status == SESSION_OK)
            start_all(bench, &run, 1);
        *is_found =
            report.status == SESSION_OK && twin_ended(bench, &run) &&
            (want ? same_wants(bench, probe, &run, want) : same_outputs(bench, probe, &run, base));
        if (*is_found)
            return true;
        rig_stop(rig);
    }
    return true;
}

/* On inputs that the reference has just worked on in both types. */
static bool try_twin(struct bench *bench, const struct probe *probe, void *const *base,
                     double *const *want, struct err *err)
{
    bool has_base, has_oracle = false;
    if (!find_twin(bench, probe, base, NULL, &has_base, err) ||
        (has_base && !find_twin(bench, probe, NULL, want, &has_oracle, err)))
        return false;
    bench->uses_twin = has_oracle;
    bench->twin_state = has_oracle ? TWIN_HOLDS : TWIN_NONE;
    return true;
}

/* The reference once, in the task's type; the rest by the twin, if it gives the same bits. */
static bool run_with_twin(struct bench *bench, const struct probe *probe, void *const *base,
                          double *const *want, struct err *err)
{
    struct run runs[] = {run_of(&bench->baseline, probe->inputs, probe),
                         run_of(&bench->twin, probe->inputs, probe),
                         run_of(&bench->twin_oracle, bench->wide, probe)};
    start_all(bench, runs, 3);
    if (!run_finish(bench, &runs[0], err))
        return false;
    take_outputs(bench, probe, &runs[0], base);
    bench->uses_twin = twin_ended(bench, &runs[1]) && twin_ended(bench, &runs[2]) &&
                       same_outputs(bench, probe, &runs[1], base);
    if (!bench->uses_twin) {
        bench->twin_state = TWIN_NONE;
        return run_plainly(bench, probe, probe->inputs, NULL, want, err);
    }
    take_wanted(bench, probe, &runs[2], want);
    return true;
}

bool bench_run_first(struct bench *bench, const struct probe *probe, void *const *base,
                     double *const *want, struct err *err)
{
    bench->uses_twin = false;
    if (want)
        widen_inputs(bench, probe->inputs, false);
    if (want && bench->twin_state == TWIN_HOLDS)
        return run_with_twin(bench, probe, base, want, err);
    if (!run_plainly(bench, probe, probe->inputs, base, want, err))
        return false;
    return !want || bench->twin_state != TWIN_UNTRIED ||
           bench->slowest_ns < bench->gate->opts.twin_from_ns ||
           try_twin(bench, probe, base, want, err);
}

/* False: it did not end well; nothing was taken. */
static bool run_by_twin(struct bench *bench, const struct probe *probe, void *const *inputs,
                        void *const *base, double *const *want)
{
    struct run runs[2];
    size_t count = 0;
    if (base)
        runs[count++] = run_of(&bench->twin, inputs, probe);
    if (want)
        runs[count++] = run_of(&bench->twin_oracle, bench->wide, probe);
    start_all(bench, runs, count);
    for (size_t i = 0; i < count; i++)
        if (!twin_ended(bench, &runs[i]))
            return false;
    if (base)
        take_outputs(bench, probe, &runs[0], base);
    if (want)
        take_wanted(bench, probe, &runs[count - 1], want);
    return true;
}

bool bench_run(struct bench *bench, const struct probe *probe, void *const *inputs, bool moved,
               void *const *base, double *const *want, struct err *err)
{
    if (want)
        widen_inputs(bench, inputs, moved);
    if (bench->uses_twin && run_by_twin(bench, probe, inputs, base, want))
        return true;
    if (bench->uses_twin) {
        bench->uses_twin = false;
        bench->twin_state = TWIN_NONE;
    }
    return run_plainly(bench, probe, inputs, base, want, err);
}

bool bench_run_shadow(struct bench *bench, const struct probe *probe, void *const *inputs,
                      struct session_call *call, struct err *err)
{
    struct run run = {.rig = &bench->shadow, .inputs = inputs, .distribution = probe->distribution};
    if (!run_all(bench, &run, 1, err))
        return false;
    *call = run.call;
    return true;
}

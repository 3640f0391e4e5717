#include "gate/bench.h"
#include "gate/quick.h"
#include "os/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_BYTES                                                                                \
    ((size_t)8 * 1024 * 1024) /* kept of a case, if that is enough for the fewest                  \
                               */

enum { FEWEST_OTHERS = 2, EDGE_TRIALS = 2 };

/* Arrays of one run on other inputs, and what is gathered over the runs. */
struct trial {
    void *inputs[TASK_MAX_ARGS], *base[TASK_MAX_ARGS];
    double *want[TASK_MAX_ARGS], *squares[TASK_MAX_ARGS];
    double *errors[BENCH_MOST_TRIALS][TASK_MAX_ARGS]; /* of the baseline, by run */
    bool has_errors[BENCH_MOST_TRIALS];
};

static void trial_free(struct trial *trial)
{
    bench_free_args(trial->inputs);
    bench_free_args(trial->base);
    for (size_t arg = 0; arg < TASK_MAX_ARGS; arg++) {
        free(trial->want[arg]);
        free(trial->squares[arg]);
        for (size_t run = 0; run < BENCH_MOST_TRIALS; run++)
            free(trial->errors[run][arg]);
    }
}

static void trial_alloc(const struct bench *bench, const struct probe *probe, struct trial *trial)
{
    for (size_t arg = 0; arg < bench->gate->task->arg_count; arg++) {
        const struct yardstick *y = &probe->outputs[arg];
        if (probe->inputs[arg])
            trial->inputs[arg] = bench_get(1, rig_arg_bytes(&bench->baseline, arg));
        if (y->count)
            trial->base[arg] = bench_get(y->count, dtype_bytes(y->dtype));
        if (!y->want)
            continue;
        trial->want[arg] = bench_get(y->count, sizeof(double));
        trial->squares[arg] = bench_get(y->count, sizeof(double));
        for (unsigned run = 0; run < bench->trials; run++)
            trial->errors[run][arg] = bench_get(y->count, sizeof(double));
    }
}

static bool is_new_draw(const struct bench *bench, unsigned run)
{
    return bench->draws_anew && run % 2 == 1;
}

/* Inputs moved by one ulp; or new ones, which do not share the luck of the first: a sum of a
 * million numbers rounds in the same way again when they move by an ulp. */
static void trial_inputs(struct bench *bench, const struct probe *probe, bool is_new,
                         struct trial *trial)
{
    struct data *data = bench->gate->data;
    if (is_new)
        data_begin(data);
    for (size_t arg = 0; arg < bench->gate->task->arg_count; arg++) {
        const size_t count = bench->baseline.elements[arg];
        if (probe->inputs[arg] && is_new)
            data_fill(data, arg, probe->distribution, trial->inputs[arg], count);
        else if (probe->inputs[arg])
            data_perturb(data, arg, probe->inputs[arg], trial->inputs[arg], count);
    }
}

/* In float64 oracle and baseline are the same code. What the baseline's roundings add up to is then
 * seen in float32, where the oracle is exact in comparison, on the same inputs rounded to float32:
 * the same sums in the same order, with roundings 2^29 times as large. */
static bool add_shadow_errors(struct bench *bench, const struct probe *probe, unsigned run,
                              struct trial *trial, struct err *err)
{
    const struct task *task = bench->gate->task;
    const double scale = dtype_roundoff(DTYPE_F64) / dtype_roundoff(DTYPE_F32);
    void *narrow[TASK_MAX_ARGS] = {0};
    struct session_call call;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        double *values = trial->inputs[arg];
        const size_t count = bench->shadow.elements[arg];
        if (!values)
            continue;
        narrow[arg] = bench_get(1, rig_arg_bytes(&bench->shadow, arg));
        if (!task->args[arg].is_real) {
            memcpy(narrow[arg], values, rig_arg_bytes(&bench->shadow, arg));
            continue;
        }
        for (size_t i = 0; i < count; i++)
            dtype_store(DTYPE_F32, narrow[arg], i, values[i]);
        dtype_widen(DTYPE_F32, narrow[arg], 0, count, values);
    }
    const bool ok = bench_run_shadow(bench, probe, narrow, &call, err) &&
                    bench_run(bench, probe, trial->inputs, false, NULL, trial->want, err);
    for (size_t arg = 0; ok && arg < task->arg_count; arg++) {
        const struct yardstick *y = &probe->outputs[arg];
        if (!y->want)
            continue;
        const void *got = rig_arg(&bench->shadow, &call, arg);
        for (size_t i = 0; i < y->count; i++) {
            const double error =
                (dtype_element(bench->shadow.dtypes[arg], got, i) - trial->want[arg][i]) * scale;
            if (isfinite(error) && fabs(error) > fabs(trial->errors[run][arg][i]))
                trial->errors[run][arg][i] = error;
        }
    }
    bench_free_args(narrow);
    return ok;
}

/* Oracle and baseline on other inputs. How far the result moves with an ulp of the input tells the
 * conditioning of each element, and the baseline's error is one more sample of its rounding. Where
 * the task computes in float64, oracle and baseline are the same code: there the movement, which
 * holds the rounding too, stands for the error. Inputs that are stored in fewer bits than the task
 * computes in are moved for the oracle alone, and the baseline has no error on them. */
static bool run_trial(struct bench *bench, const struct probe *probe, unsigned run,
                      struct trial *trial, struct err *err)
{
    const struct task *task = bench->gate->task;
    const bool is_new = is_new_draw(bench, run);
    const bool is_finer = task->accumulate != DTYPE_F64;
    const bool runs_baseline = is_finer && (is_new || !bench_is_coarse(task));
    trial_inputs(bench, probe, is_new, trial);
    if (!bench_run(bench, probe, trial->inputs, !is_new, runs_baseline ? trial->base : NULL,
                   trial->want, err))
        return false;
    trial->has_errors[run] = runs_baseline || !is_finer;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        const struct yardstick *y = &probe->outputs[arg];
        if (!y->want)
            continue;
        double *errors = trial->errors[run][arg];
        if (runs_baseline)
            dtype_widen(y->dtype, trial->base[arg], 0, y->count, errors);
        for (size_t i = 0; i < y->count; i++) {
            const double moved = trial->want[arg][i] - y->want[i];
            if (isfinite(moved) && !is_new)
                trial->squares[arg][i] += moved * moved;
            errors[i] = runs_baseline ? yardstick_error(y->dtype, y->accumulate, errors[i],
                                                        trial->want[arg][i])
                                      : moved;
        }
    }
    return !bench->gate->shadow.bytes || add_shadow_errors(bench, probe, run, trial, err);
}

/* Large outputs get what a quick look at them takes. */
static void add_quick(struct yardstick *y)
{
    if (y->dtype != DTYPE_F32 || y->accumulate != DTYPE_F32 || y->count < QUICK_FEWEST)
        return;
    float *delta = bench_get(y->count, sizeof *delta),
          *inverse = bench_get(y->count, sizeof *inverse);
    if (quick_prepare(y->base, y->want, y->unit, y->count, delta, inverse)) {
        y->delta = delta;
        y->inverse = inverse;
        return;
    }
    free(delta);
    free(inverse);
}

/* Equal terms round alike: an error that grows like a root of their number where they differ grows
 * with the number itself, for any order of a sum, and which order is lucky is chance. */
static double likeness(const struct bench *bench, enum distribution distribution)
{
    const struct task *task = bench->gate->task;
    size_t most = 1;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        const bool is_alike = distribution == DISTRIBUTION_CONSTANT ||
                              (distribution == DISTRIBUTION_SITUATION &&
                               task->specials[bench->situation].args[arg].kind == SPECIAL_VALUE);
        if (task->args[arg].role != ARG_OUT && is_alike && bench->oracle.elements[arg] > most)
            most = bench->oracle.elements[arg];
    }
    return sqrt((double)most);
}

/* Units and the baseline's own errors of one output. */
static void finish_yardstick(const struct bench *bench, struct probe *probe, size_t arg,
                             struct trial *trial)
{
    struct yardstick *y = &probe->outputs[arg];
    unsigned perturbed = 0;
    for (unsigned run = 0; run < bench->trials; run++)
        perturbed += !is_new_draw(bench, run);
    y->unit_rms = yardstick_units(y->accumulate, y->want, trial->squares[arg], y->count, perturbed);
    const double widening = likeness(bench, probe->distribution);
    for (size_t i = 0; i < y->count; i++)
        trial->squares[arg][i] *= widening;
    y->unit_rms *= widening;
    y->unit = trial->squares[arg];
    trial->squares[arg] = NULL;
    const bool is_finer = bench->gate->task->accumulate != DTYPE_F64;
    if (is_finer)
        error_profile_add(&y->own, y->dtype, y->accumulate, y->base, y->want, y->unit, y->count);
    /* Exact on integers: then perturbed inputs, which are none, say nothing. */
    const bool is_exact =
        probe->distribution == DISTRIBUTION_INTEGERS && is_finer && y->own.sum_of_squares == 0;
    for (unsigned run = 0; run < bench->trials && !is_exact; run++)
        if (trial->has_errors[run])
            error_profile_add_errors(&y->own, trial->errors[run][arg], y->unit, y->count);
    add_quick(y);
}

/* The outputs that have an oracle; they get their units and the baseline's errors. */
static bool measure_errors(struct bench *bench, struct probe *probe, struct err *err)
{
    struct trial trial = {0};
    bool ok = true;
    trial_alloc(bench, probe, &trial);
    for (unsigned run = 0; ok && run < bench->trials; run++)
        ok = run_trial(bench, probe, run, &trial, err);
    for (size_t arg = 0; ok && arg < bench->gate->task->arg_count; arg++)
        if (probe->outputs[arg].want)
            finish_yardstick(bench, probe, arg, &trial);
    trial_free(&trial);
    return ok;
}

static bool is_finite(const struct yardstick *y, const struct task_rows *rows)
{
    if (!dtype_is_float(y->dtype))
        return true;
    for (size_t i = 0; i < y->count; i++)
        if (!isfinite(dtype_element(y->dtype, y->base, i)) && !task_rows_is_gap(rows, i))
            return false;
    return true;
}

/* Inputs: drawn, or those of `original` with a few elements changed. */
static void fill_inputs(struct bench *bench, struct probe *probe, const struct probe *original)
{
    const struct task *task = bench->gate->task;
    data_begin(bench->gate->data);
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        if (task->args[arg].role == ARG_OUT)
            continue;
        const size_t count = bench->baseline.elements[arg];
        probe->inputs[arg] = bench_get(count, dtype_bytes(task->args[arg].dtype));
        if (original) {
            memcpy(probe->inputs[arg], original->inputs[arg],
                   count * dtype_bytes(task->args[arg].dtype));
            data_change(bench->gate->data, arg, probe->inputs[arg], count);
        } else {
            data_fill(bench->gate->data, arg, probe->distribution, probe->inputs[arg], count);
        }
    }
}

static void probe_free(struct probe *probe)
{
    bench_free_args(probe->inputs);
    for (size_t arg = 0; arg < TASK_MAX_ARGS; arg++) {
        /* The yardstick promises not to change what it points to; the probe owns it. */
        union {
            const void *kept;
            void *owned;
        } arrays[] = {{probe->outputs[arg].base},
                      {probe->outputs[arg].want},
                      {probe->outputs[arg].unit},
                      {probe->outputs[arg].delta},
                      {probe->outputs[arg].inverse}};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            free(arrays[i].owned);
    }
    *probe = (struct probe){0};
}

/* Does an element have what the situation says? */
static bool is_declared(const struct special_arg *declared, enum dtype dtype, double value)
{
    double stored[1] = {0}; /* room for an element of any dtype */
    if (declared->kind == SPECIAL_FINITE)
        return isfinite(value);
    dtype_store(dtype, stored, 0, declared->value);
    const double wanted = dtype_element(dtype, stored, 0);
    return isnan(wanted) ? isnan(value) : value == wanted;
}

/* The reference against what the task says of a situation. */
static bool check_situation(const struct bench *bench, const struct probe *probe, size_t situation,
                            struct err *err)
{
    const struct task *task = bench->gate->task;
    CLEANUP(arena_free) struct arena arena = {0};
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        const struct yardstick *y = &probe->outputs[arg];
        const struct special_arg *declared = &task->specials[situation].results[arg];
        if (task->args[arg].role == ARG_IN || declared->kind == SPECIAL_FREE)
            continue;
        for (size_t i = 0; i < y->count; i++) {
            const double value = dtype_element(y->dtype, y->base, i);
            if (task_rows_is_gap(&bench->baseline.rows[arg], i) ||
                is_declared(declared, y->dtype, value))
                continue;
            (void)err_set(err, ERR_BAD_INPUT,
                          "task '%s', case '%s': the reference gives %s = %.9g, but situation %zu "
                          "of 'special' says %s",
                          task->name, bench->problem->name,
                          element_name(task, bench->problem, arg, i, &arena), value, situation + 1,
                          declared->kind == SPECIAL_FINITE
                              ? "finite"
                              : arena_printf(&arena, "%.9g", declared->value));
            return err_hint(err, "mend reference.c, or declare under 'special' what it does");
        }
    }
    return true;
}

/* What an output is computed in: what the task accumulates in, or its own type where that is
 * finer still. */
static enum dtype arithmetic_of(const struct task *task, size_t arg)
{
    const enum dtype dtype = task->args[arg].dtype;
    return dtype_roundoff(dtype) > dtype_roundoff(task->accumulate) ? task->accumulate : dtype;
}

static bool draw(struct bench *bench, enum distribution distribution, const struct probe *original,
                 struct probe *probe, struct err *err)
{
    const struct task *task = bench->gate->task;
    const int64_t start = os_now_ns();
    void *base[TASK_MAX_ARGS] = {0};
    double *want[TASK_MAX_ARGS] = {0};
    bool is_any = false;
    data_choose_situation(bench->gate->data, bench->situation);
    if (distribution == DISTRIBUTION_ONE_SPECIAL)
        data_choose_special(bench->gate->data, bench->gate->special_turn++);
    *probe = (struct probe){.case_index = bench->case_index,
                            .problem = bench->problem,
                            .distribution = distribution,
                            .judged_at = bench->gate->judged,
                            .is_usable = true};
    fill_inputs(bench, probe, original);
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        if (task->args[arg].role == ARG_IN)
            continue;
        const size_t count = bench->baseline.elements[arg];
        base[arg] = bench_get(count, dtype_bytes(task->args[arg].dtype));
        probe->outputs[arg] = (struct yardstick){.dtype = task->args[arg].dtype,
                                                 .count = count,
                                                 .accumulate = arithmetic_of(task, arg),
                                                 .precision = task->precision,
                                                 .base = base[arg],
                                                 .crew = bench->gate->crew};
        if (count == 0 || !bench->has_oracle || !dtype_is_float(task->args[arg].dtype))
            continue;
        is_any = true;
        want[arg] = bench_get(count, sizeof(double));
        probe->outputs[arg].want = want[arg];
    }
    bool ok = bench_run_first(bench, probe, base, is_any ? want : NULL, err);
    if (ok && distribution == DISTRIBUTION_SITUATION)
        ok = check_situation(bench, probe, bench->situation, err);
    for (size_t arg = 0; ok && arg < task->arg_count; arg++) {
        if (distribution_is_special(distribution) ||
            is_finite(&probe->outputs[arg], &bench->baseline.rows[arg]))
            continue;
        probe->is_usable = false;
        if (distribution == DISTRIBUTION_DECLARED)
            ok = bench_refuse(bench, err, "is not finite on declared inputs, in",
                              task->args[arg].name);
    }
    if (ok && is_any && probe->is_usable)
        ok = measure_errors(bench, probe, err);
    probe->is_by_twin = bench->uses_twin;
    probe->draw_ns = os_now_ns() - start;
    if (!ok)
        probe_free(probe);
    return ok;
}

/* Bytes that a probe of the case keeps: values, and for outputs the oracle's and the units too. */
static size_t probe_bytes(const struct task *task, size_t case_index)
{
    size_t bytes = 1;
    for (size_t arg = 0; arg < task->arg_count; arg++)
        bytes += task_arg_bytes(task, arg, &task->cases[case_index]) *
                 (task->args[arg].role == ARG_IN ? 1 : 5);
    return bytes;
}

/* What a case only goes without where it is large: each catches something that nothing else does.
 */
static bool is_telling(enum distribution distribution)
{
    return distribution == DISTRIBUTION_INTEGERS || distribution_is_special(distribution);
}

static void shuffle_deck(struct gate *gate)
{
    gate->deck_count = 0;
    for (unsigned d = 0; d < DISTRIBUTION_COUNT; d++) {
        if (d == DISTRIBUTION_DECLARED || d == DISTRIBUTION_CHANGED ||
            !distribution_applies((enum distribution)d, gate->task))
            continue;
        const size_t k = data_below(gate->data, gate->deck_count + 1);
        gate->deck[gate->deck_count] = gate->deck[k];
        gate->deck[k] = (enum distribution)d;
        gate->deck_count++;
    }
}

static bool is_among(const enum distribution *list, size_t count, enum distribution distribution)
{
    size_t i = 0;
    while (i < count && list[i] != distribution)
        i++;
    return i < count;
}

/* The declared distribution and its changed copy first, then the others. Large cases keep only some
 * of these: the deck is dealt on from case to case, so that together they have all, and other ones
 * when they are drawn again. */
static size_t choose(struct gate *gate, size_t case_index, enum probe_scope scope,
                     enum distribution *out)
{
    size_t count = 0;
    out[count++] = DISTRIBUTION_DECLARED;
    if (scope == PROBES_DECLARED)
        return count;
    if (distribution_applies(DISTRIBUTION_CHANGED, gate->task))
        out[count++] = DISTRIBUTION_CHANGED;
    if (gate->deck_count == 0)
        shuffle_deck(gate);
    const size_t fit = PROBE_BYTES / probe_bytes(gate->task, case_index);
    size_t others = scope == PROBES_ALL || fit > gate->deck_count ? gate->deck_count : fit;
    if (others < FEWEST_OTHERS)
        others = FEWEST_OTHERS < gate->deck_count ? FEWEST_OTHERS : gate->deck_count;
    const size_t all = count + others;
    for (size_t i = 0; i < gate->deck_count && others > FEWEST_OTHERS; i++)
        if (is_telling(gate->deck[i]))
            out[count++] = gate->deck[i];
    while (count < all) {
        const enum distribution next = gate->deck[gate->deck_next++ % gate->deck_count];
        if (!is_among(out, count, next))
            out[count++] = next;
    }
    return count;
}

bool probes_draw(struct gate *gate, size_t case_index, enum probe_scope scope, struct probe *probes,
                 size_t *count, struct err *err)
{
    enum distribution chosen[MAX_PROBES];
    const size_t chosen_count = choose(gate, case_index, scope, chosen);
    struct bench bench;
    if (!bench_open(gate, case_index, &gate->task->cases[case_index], NULL, &bench, err))
        return false;
    bool ok = true;
    *count = 0;
    for (size_t i = 0; ok && i < chosen_count; i++) {
        if (chosen[i] == DISTRIBUTION_SITUATION)
            bench.situation = data_below(gate->data, gate->task->special_count);
        const struct probe *original = chosen[i] == DISTRIBUTION_CHANGED ? &probes[0] : NULL;
        struct probe *probe = &probes[*count];
        ok = draw(&bench, chosen[i], original, probe, err);
        if (ok && probe->is_usable)
            (*count)++;
        else
            probe_free(probe);
    }
    bench_close(&bench);
    if (!ok) {
        probes_free(probes, *count);
        *count = 0;
    }
    return ok;
}

/* Declared values at every second shape, others in between; a draw on which the baseline is not
 * finite gives way to the declared one. */
static bool draw_edge(struct bench *bench, size_t index, struct probe *probe, struct err *err)
{
    struct gate *gate = bench->gate;
    enum distribution chosen = DISTRIBUTION_DECLARED;
    const size_t ordinary = gate->edges.count - gate->task->special_count;
    if (index >= ordinary) {
        bench->situation = index - ordinary;
        return draw(bench, DISTRIBUTION_SITUATION, NULL, probe, err);
    }
    if (index % 2)
        chosen = (enum distribution)data_below(gate->data, DISTRIBUTION_COUNT);
    if (chosen == DISTRIBUTION_CHANGED || chosen == DISTRIBUTION_SITUATION ||
        !distribution_applies(chosen, gate->task))
        chosen = DISTRIBUTION_DECLARED;
    /* Special values say nothing of a reference that is not finite at this size. */
    if (distribution_is_special(chosen)) {
        if (!draw(bench, DISTRIBUTION_DECLARED, NULL, probe, err))
            return false;
        probe_free(probe);
    }
    if (!draw(bench, chosen, NULL, probe, err))
        return false;
    if (probe->is_usable)
        return true;
    probe_free(probe);
    return draw(bench, DISTRIBUTION_DECLARED, NULL, probe, err);
}

bool edges_draw(struct gate *gate, struct edges *edges, struct err *err)
{
    struct bench bench;
    if (edges->count == 0)
        return true;
    if (!bench_open(gate, EDGE_CASE, &edges->problems[0], edges->rooms, &bench, err))
        return false;
    bool ok = true;
    /* Of tiny shapes the floors of the comparison decide, not the baseline's luck. */
    bench.trials = EDGE_TRIALS;
    for (size_t i = 0; ok && i < edges->count; i++) {
        bench_move(&bench, &edges->problems[i]);
        ok = draw_edge(&bench, i, &edges->probes[i], err);
        if (!ok && err->kind == ERR_BAD_INPUT && i < edges->count - gate->task->special_count)
            (void)err_hint(err, "this is a size that the axes allow: mend reference.c, or say what "
                                "callers may give: axes: [{name: n, min: 4, max: 4096, multiple: "
                                "4}]");
    }
    bench_close(&bench);
    return ok;
}

void probes_free(struct probe *probes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        probe_free(&probes[i]);
}

/* The case whose probes are oldest, and what drawing them again would cost. */
static size_t oldest_case(const struct gate *gate, int64_t *cost_ns)
{
    size_t oldest = SIZE_MAX;
    for (size_t i = 0; i < gate->task->case_count; i++)
        if (gate->cases[i].probe_count > 0 &&
            (oldest == SIZE_MAX ||
             gate->cases[i].probes[0].judged_at < gate->cases[oldest].probes[0].judged_at))
            oldest = i;
    *cost_ns = 0;
    for (size_t i = 0; oldest != SIZE_MAX && i < gate->cases[oldest].probe_count; i++)
        *cost_ns += gate->cases[oldest].probes[i].draw_ns;
    return oldest;
}

bool probes_refresh(struct gate *gate, struct err *err)
{
    int64_t cost_ns;
    const size_t oldest = oldest_case(gate, &cost_ns);
    if (oldest == SIZE_MAX || cost_ns > gate->redraw_credit)
        return true;
    gate->redraw_credit -= cost_ns;
    struct case_state *state = &gate->cases[oldest];
    struct probe fresh[MAX_PROBES] = {0};
    size_t count = 0;
    if (!probes_draw(gate, oldest, PROBES_FITTING, fresh, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < state->probe_count; k++)
            if (state->probes[k].distribution == fresh[i].distribution)
                fresh[i].failures = state->probes[k].failures;
    probes_free(state->probes, state->probe_count);
    memcpy(state->probes, fresh, count * sizeof *fresh);
    state->probe_count = count;
    state->has_bounds = false;
    return true;
}

/* The roofline floor (M14): no kernel is faster than the machine. */
#include "gate/internal.h"

#include <math.h>

/* Under this share of the floor a time is impossible: measured rates are good to a few percent. */
static const double TRUST = 0.8;

/* But what a shared cache or memory gives depends on what others do, and where they are on other
 * processors of a host, nobody tells: 20 GB/s were seen minutes after 14. */
static const double TRUST_SHARED = 0.5;

/* The larger of what is read and what is written, as a share of both: loads and stores overlap. */
static double one_way_share(const struct task *task, const struct task_case *c)
{
    double in = 0, out = 0;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        const double bytes = task_arg_data_bytes(task, arg, c);
        in += task->args[arg].role != ARG_OUT ? bytes : 0;
        out += task->args[arg].role != ARG_IN ? bytes : 0;
    }
    return in + out > 0 ? fmax(in, out) / (in + out) : 1;
}

/* Arguments of one call. */
static double footprint(const struct task *task, const struct task_case *c)
{
    double bytes = 0;
    for (size_t arg = 0; arg < task->arg_count; arg++)
        bytes += task_arg_data_bytes(task, arg, c);
    return bytes;
}

/* The least time of a call, and below which nobody believes it; the arithmetic in words. */
struct roof {
    double floor_ns, possible_ns;
    const char *text; /* only where asked for */
};

static struct roof roof_of(const struct gate *gate, size_t case_index, struct arena *arena)
{
    const struct task *task = gate->task;
    const struct task_case *c = &task->cases[case_index];
    const struct target_features *features = target_features(gate->target);
    const double peak =
        task->dtype == DTYPE_F64 ? features->peak_gflops_f64 : features->peak_gflops_f32;
    const double flops = dtype_is_float(task->dtype) ? task_flops(task, c) : 0;
    /* Data twice as large as a cache still profit from it: they count as held. */
    const struct data_place place = target_place_of(features, footprint(task, c) / 2);
    const double bytes = task_bytes(task, c) * one_way_share(task, c);
    const double memory_ns = place.read_gbs > 0 ? bytes / place.read_gbs : 0;
    const double compute_ns = peak > 0 ? flops / peak : 0;
    const double trust = place.is_shared ? TRUST_SHARED : TRUST;
    /* Several threads have at most several cores' worth of both. */
    const double threads = task->threads > 1 ? (double)task->threads : 1;
    struct roof roof = {.floor_ns = fmax(memory_ns, compute_ns) / threads,
                        .possible_ns = fmax(trust * memory_ns, TRUST * compute_ns) / threads};
    if (arena && trust * memory_ns >= TRUST * compute_ns)
        roof.text = arena_printf(arena, "%.0f bytes at %.1f GB/s from %s take %.0f ns", bytes,
                                 place.read_gbs * threads, place.name, memory_ns / threads);
    else if (arena)
        roof.text = arena_printf(arena, "%.0f operations at %.1f Gflop/s take %.0f ns", flops,
                                 peak * threads, compute_ns / threads);
    return roof;
}

double roofline_share(const struct gate *gate, size_t case_index, int64_t time_ns)
{
    const double floor = roof_of(gate, case_index, NULL).floor_ns;
    return time_ns > 0 ? fmin(floor / (double)time_ns, 1) : 0;
}

bool roofline_check(struct judgement *j, size_t case_index, int64_t time_ns)
{
    const char *name = j->gate->task->cases[case_index].name;
    struct err err = {0};
    struct roof roof = roof_of(j->gate, case_index, j->arena);
    if (!((double)time_ns < roof.possible_ns))
        return true;
    /* A machine that was busy when it was measured looks slower than it is: each rate becomes the
     * best that was ever measured of it. */
    if (!target_probe(j->gate->target, true, &err))
        return decide(j, VERDICT_TOO_NOISY, "noise",
                      "case %s: a call took %lld ns, where %s, and the machine cannot be measured "
                      "again: %s",
                      name, (long long)time_ns, roof.text, err.message);
    roof = roof_of(j->gate, case_index, j->arena);
    if (!((double)time_ns < roof.possible_ns))
        return true;
    return decide(j, VERDICT_REJECTED, "M14-roofline",
                  "case %s: a call took %lld ns, which this machine cannot do: %s", name,
                  (long long)time_ns, roof.text);
}

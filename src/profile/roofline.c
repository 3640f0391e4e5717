#include "profile/profile.h"

static const char *const class_names[] = {
    [ROOFLINE_UNKNOWN] = "unknown",
    [ROOFLINE_MEMORY] = "memory",
    [ROOFLINE_COMPUTE] = "compute",
    [ROOFLINE_LATENCY] = "latency",
};

const char *roofline_class_name(enum roofline_class roofline)
{
    return class_names[roofline];
}

/* Under this share of its bound a kernel is held up by something else. */
#define LATENCY_SHARE 0.25

struct roofline profile_roofline(const struct task *task, const struct task_case *c,
                                 const struct target_features *features, int64_t time_ns,
                                 struct arena *arena)
{
    struct roofline finding = {.text = ""};
    const double bytes = task_bytes(task, c);
    const double flops = task_flops(task, c);
    const struct data_place place = target_place_of(features, bytes);
    const double bandwidth = place.read_gbs; /* GB/s is bytes per ns */
    const double peak =
        task->dtype == DTYPE_F64 ? features->peak_gflops_f64 : features->peak_gflops_f32;
    if (time_ns <= 0 || bandwidth <= 0.0 || peak <= 0.0)
        return finding;
    const double memory_ns = bytes / bandwidth;
    const double compute_ns = flops / peak;
    const bool by_memory = memory_ns >= compute_ns;
    const double bound = by_memory ? memory_ns : compute_ns;
    finding.bound_ns = (int64_t)bound;
    finding.share = bound / (double)time_ns;
    finding.roofline = finding.share < LATENCY_SHARE ? ROOFLINE_LATENCY
                       : by_memory                   ? ROOFLINE_MEMORY
                                                     : ROOFLINE_COMPUTE;
    const char *what = finding.roofline == ROOFLINE_LATENCY
                           ? "scalar code, dependences or calls hold it up: vectorize, break chains"
                       : by_memory
                           ? "fewer passes over the data, streaming stores or prefetch are left"
                           : "fewer operations or better use of the vector units are left";
    finding.text =
        by_memory
            ? arena_printf(
                  arena,
                  "[%s] %.3g ms a call is %.2g GB/s, %.0f%% of the %.3g GB/s that %s gives: %s",
                  c->name, (double)time_ns * 1e-6, bytes / (double)time_ns, 100.0 * finding.share,
                  bandwidth, place.name, what)
            : arena_printf(
                  arena,
                  "[%s] %.3g ms a call is %.3g GFLOP/s, %.0f%% of the measured peak of %.4g: %s",
                  c->name, (double)time_ns * 1e-6, flops / (double)time_ns, 100.0 * finding.share,
                  peak, what);
    return finding;
}

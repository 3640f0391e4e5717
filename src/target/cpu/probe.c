#include "target/cpu/cpu.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"

#include <math.h>
#include <string.h>

/*
 * Measuring the machine with kernels of our own, built, run and timed as candidates are: by the
 * kernel's account. Each rate is that of the second fastest of several runs: noise makes a machine
 * look slower, and the roofline must not be below what it can do; but one time alone may be an
 * error of the account.
 */
#define RUN_LIMIT_NS INT64_C(60000000000) /* by the wall: a host may give it a thirtieth */
#define SAMPLE_NS INT64_C(500000)         /* what one run should take: less than a time slice */
enum { FIRST_SHARED = 2 };                /* of the levels: L3 and memory */
enum { RUNS = 5, TRIES = 12, MOST_SESSIONS = 8, MOST_TRIES = 200, ACCUMULATORS = 12 };
#define MOST_MEMORY_BYTES (INT64_C(256) << 20)

/* Twelve independent chains of fused multiply-adds at the native width: enough for two units with
 * a latency of five or six. Result and inputs pass through memory, so nothing can be folded. */
static const char flops_source[] =
    "#include <stdint.h>\n"
    "typedef real vec __attribute__((vector_size(%d), may_alias));\n"
    "void probe(const real *x, real *y, int64_t bytes, int64_t repeats)\n"
    "{\n"
    "    const vec *in = (const vec *)x;\n"
    "    const vec m = in[12], c = in[13];\n"
    "    vec a0 = in[0], a1 = in[1], a2 = in[2], a3 = in[3], a4 = in[4], a5 = in[5];\n"
    "    vec a6 = in[6], a7 = in[7], a8 = in[8], a9 = in[9], a10 = in[10], a11 = in[11];\n"
    "    (void)bytes;\n"
    "    for (int64_t i = 0; i < repeats; i++) {\n"
    "        a0 = a0 * m + c; a1 = a1 * m + c; a2 = a2 * m + c; a3 = a3 * m + c;\n"
    "        a4 = a4 * m + c; a5 = a5 * m + c; a6 = a6 * m + c; a7 = a7 * m + c;\n"
    "        a8 = a8 * m + c; a9 = a9 * m + c; a10 = a10 * m + c; a11 = a11 * m + c;\n"
    "    }\n"
    "    *(vec *)y = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7)) + ((a8 + a9) + (a10 + "
    "a11));\n"
    "}\n";

/* Reads the first `bytes` of x `repeats` times, eight vectors at a time. */
static const char read_source[] =
    "#include <stdint.h>\n"
    "typedef int64_t vec __attribute__((vector_size(%d), may_alias));\n"
    "void probe(const real *x, real *y, int64_t bytes, int64_t repeats)\n"
    "{\n"
    "    const int64_t count = bytes / (int64_t)sizeof(vec) / 8 * 8;\n"
    "    vec a0 = {0}, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;\n"
    "    for (int64_t r = 0; r < repeats; r++) {\n"
    "        const vec *in = (const vec *)x;\n"
    "        __asm__ volatile(\"\" : \"+r\"(in) : : \"memory\");\n"
    "        for (int64_t i = 0; i < count; i += 8) {\n"
    "            a0 |= in[i]; a1 |= in[i + 1]; a2 |= in[i + 2]; a3 |= in[i + 3];\n"
    "            a4 |= in[i + 4]; a5 |= in[i + 5]; a6 |= in[i + 6]; a7 |= in[i + 7];\n"
    "        }\n"
    "    }\n"
    "    *(vec *)y = ((a0 | a1) | (a2 | a3)) | ((a4 | a5) | (a6 | a7));\n"
    "}\n";

/* The same in four streams, each asked for ahead of time: what one core can read from where its
 * prefetchers do not suffice (shared caches, memory). */
static const char streams_source[] =
    "#include <stdint.h>\n"
    "typedef int64_t vec __attribute__((vector_size(%d), may_alias));\n"
    "void probe(const real *x, real *y, int64_t bytes, int64_t repeats)\n"
    "{\n"
    "    const int64_t part = bytes / (int64_t)sizeof(vec) / 16 * 4;\n"
    "    vec a0 = {0}, a1 = a0, a2 = a0, a3 = a0;\n"
    "    for (int64_t r = 0; r < repeats; r++) {\n"
    "        const vec *in = (const vec *)x;\n"
    "        __asm__ volatile(\"\" : \"+r\"(in) : : \"memory\");\n"
    "        for (int64_t i = 0; i < part; i++) {\n"
    "            __builtin_prefetch((const char *)(in + i) + 1024);\n"
    "            __builtin_prefetch((const char *)(in + part + i) + 1024);\n"
    "            __builtin_prefetch((const char *)(in + 2 * part + i) + 1024);\n"
    "            __builtin_prefetch((const char *)(in + 3 * part + i) + 1024);\n"
    "            a0 |= in[i]; a1 |= in[part + i];\n"
    "            a2 |= in[2 * part + i]; a3 |= in[3 * part + i];\n"
    "        }\n"
    "    }\n"
    "    *(vec *)y = (a0 | a1) | (a2 | a3);\n"
    "}\n";

static const char copy_source[] =
    "#include <stdint.h>\n"
    "typedef int64_t vec __attribute__((vector_size(%d), may_alias));\n"
    "void probe(const real *x, real *y, int64_t bytes, int64_t repeats)\n"
    "{\n"
    "    const int64_t count = bytes / (int64_t)sizeof(vec) / 4 * 4;\n"
    "    for (int64_t r = 0; r < repeats; r++) {\n"
    "        const vec *in = (const vec *)x;\n"
    "        vec *out = (vec *)y;\n"
    "        __asm__ volatile(\"\" : \"+r\"(in), \"+r\"(out) : : \"memory\");\n"
    "        for (int64_t i = 0; i < count; i += 4) {\n"
    "            out[i] = in[i]; out[i + 1] = in[i + 1];\n"
    "            out[i + 2] = in[i + 2]; out[i + 3] = in[i + 3];\n"
    "        }\n"
    "    }\n"
    "}\n";

/* One kernel over one size. */
struct measurement {
    const void *image;
    size_t image_bytes;
    int64_t bytes, repeats;
};

static bool build_probe(struct target *target, const char *format, const char *real_name,
                        struct arena *arena, struct measurement *out, struct err *err)
{
    const struct task task = {.name = "probe",
                              .entry = "probe",
                              .args = {{.name = "x", .is_real = true, .role = ARG_IN},
                                       {.name = "y", .is_real = true, .role = ARG_OUT}},
                              .arg_count = 2,
                              .axes = {{.name = "bytes"}, {.name = "repeats"}},
                              .axis_count = 2,
                              .threads = 1};
    /* The format's one conversion is the vector's width. */
    const char *at = strstr(format, "%d");
    const struct candidate candidate = {
        .source = arena_printf(arena, "%.*s%lld%s", (int)(at - format), format,
                               (long long)target->features.vector_bytes, at + strlen("%d"))};
    const struct build_request request = {
        .task = &task, .candidate = &candidate, .real_name = real_name, .is_trusted = true};
    struct build_result result;
    if (!cpu_build(target, &request, 1, arena, &result, err))
        return false;
    if (result.status != BUILD_OK)
        return err_set(err, ERR_IO, "a probe kernel was refused (%s): %s", result.mechanism,
                       result.evidence);
    out->image = result.image;
    out->image_bytes = result.image_bytes;
    return true;
}

/* The two least of several times. */
struct least {
    int64_t first, second;
};

static void take(struct least *least, int64_t ns)
{
    if (ns <= 0 || ns >= least->second)
        return;
    least->second = ns < least->first ? least->first : ns;
    least->first = ns < least->first ? ns : least->first;
}

/* The second least CPU time of several undisturbed runs, in ns; on a busy machine, where there were
 * no two, that of disturbed ones, or of all there was. 0 where there was nothing at all. A kernel
 * of ours does no work after the bell: where it seems to, the host did, and `*again` asks for a new
 * session. */
static bool best_run(struct session *session, int64_t *out, bool *again, struct err *err)
{
    const struct session_call call = {{0}};
    struct least clean = {INT64_MAX, INT64_MAX}, disturbed = clean;
    for (int good = 0, tries = 0; good < RUNS && tries < MOST_TRIES; tries++) {
        if (tries >= TRIES && (clean.second < INT64_MAX || disturbed.second < INT64_MAX))
            break;
        struct session_report report;
        if (!session_run(session, &call, 1, true, RUN_LIMIT_NS, &report, err))
            return false;
        if (report.status != SESSION_OK && report.status != SESSION_NOISY) {
            *again = report.status == SESSION_REJECTED && str_equal(report.mechanism, "M8-quiesce");
            return err_set(err, ERR_IO, "a probe kernel failed: %s", report.evidence);
        }
        take(report.status == SESSION_OK ? &clean : &disturbed, report.cpu_ns);
        good += report.status == SESSION_OK;
    }
    const int64_t times[] = {clean.second, disturbed.second, clean.first, disturbed.first};
    *out = 0;
    for (size_t i = 0; i < sizeof times / sizeof *times && *out == 0; i++)
        *out = times[i] < INT64_MAX ? times[i] : 0;
    return true;
}

static bool measure_once(struct target *target, const struct measurement *m, int64_t *out_ns,
                         int64_t *out_doorbell_ns, bool *again, struct err *err)
{
    enum { LEAST_BYTES = 4096 };
    const size_t bytes = m->bytes < LEAST_BYTES ? LEAST_BYTES : (size_t)m->bytes;
    struct session_buffer buffers[] = {{.label = "x", .bytes = bytes},
                                       {.label = "y", .bytes = bytes, .writable = true}};
    const int64_t ints[] = {m->bytes, m->repeats};
    const struct session_opts opts = {.image = m->image,
                                      .image_bytes = m->image_bytes,
                                      .buffers = buffers,
                                      .buffer_count = 2,
                                      .ints = ints,
                                      .int_count = 2,
                                      .cpu = -1,
                                      .by_account = true};
    struct session *session = NULL;
    struct session_report report;
    if (!session_start(target, &opts, &session, &report, err))
        return false;
    if (!session)
        return err_set(err, ERR_IO, "a probe kernel cannot start: %s", report.evidence);
    /* Halves: finite, and products with them stay so. */
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ((float *)buffers[0].host)[i] = 0.5F;
    memset(buffers[1].host, 0, bytes);
    const bool done = best_run(session, out_ns, again, err);
    *out_doorbell_ns = ((struct cpu_session *)session)->empty_cpu_ns;
    session_stop(&session);
    return done;
}

static bool measure(struct target *target, const struct measurement *m, int64_t *out_ns,
                    int64_t *out_doorbell_ns, struct err *err)
{
    for (int tries = 1;; tries++) {
        bool again = false;
        if (measure_once(target, m, out_ns, out_doorbell_ns, &again, err))
            return true;
        if (!again || tries == MOST_SESSIONS)
            return false;
    }
}

/* First a short run to find how many repeats fill a sample, then the real ones. Gives units (bytes,
 * operations) per nanosecond, that is, GB/s or GFLOP/s. */
static bool rate(struct target *target, struct measurement *m, double units_per_repeat, double *out,
                 struct err *err)
{
    int64_t ns = 0, doorbell = 0;
    m->repeats = m->bytes > (INT64_C(1) << 20) ? 1 : 1024;
    if (!measure(target, m, &ns, &doorbell, err))
        return false;
    if (ns > 0 && ns < SAMPLE_NS) {
        m->repeats *= SAMPLE_NS / ns + 1;
        if (!measure(target, m, &ns, &doorbell, err))
            return false;
    }
    if (ns <= 0) {
        (void)err_set(err, ERR_BUSY, "this machine is too busy to be measured");
        return err_hint(err, "try again when nothing else runs");
    }
    *out = units_per_repeat * (double)m->repeats / (double)ns;
    /* 0: that session found no quiet moment to calibrate in. */
    double *bell = &target->features.doorbell_ns;
    if (doorbell > 0 && (*bell <= 0 || (double)doorbell < *bell))
        *bell = (double)doorbell;
    return true;
}

static bool probe_peak(struct target *target, const char *real_name, size_t real_bytes, double *out,
                       struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct measurement m = {0};
    const double lanes = (double)target->features.vector_bytes / (double)real_bytes;
    return build_probe(target, flops_source, real_name, &arena, &m, err) &&
           rate(target, &m, 2 * ACCUMULATORS * lanes, out, err);
}

/* Half of a level, and more than the level above it; memory: several times the last level. */
static int64_t working_set(const struct target_features *f, size_t level)
{
    int64_t largest = 0;
    for (size_t i = 0; i < TARGET_MAX_CACHES - 1; i++)
        largest = f->cache_bytes[i] > largest ? f->cache_bytes[i] : largest;
    if (level == TARGET_MAX_CACHES - 1) {
        const int64_t bytes = largest > 0 ? 4 * largest : INT64_C(128) << 20;
        return bytes < MOST_MEMORY_BYTES ? bytes : MOST_MEMORY_BYTES;
    }
    /* A last level is shared with others: no more of it than proves that the level above is full.
     */
    const int64_t half = f->cache_bytes[level] / 2;
    const int64_t enough = level > 0 ? 4 * f->cache_bytes[level - 1] : half;
    return half < enough ? half : enough;
}

/* Each level's rate becomes what this kernel reads at, where that is more. */
static bool probe_reading(struct target *target, const char *format, size_t first_level,
                          struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct target_features *f = &target->features;
    struct measurement m = {0};
    if (!build_probe(target, format, "float", &arena, &m, err))
        return false;
    for (size_t level = first_level; level < TARGET_MAX_CACHES; level++) {
        double gbs = 0;
        m.bytes = working_set(f, level);
        if (m.bytes > 0 && !rate(target, &m, (double)m.bytes, &gbs, err))
            return false;
        f->bandwidth_gbs[level] = gbs > f->bandwidth_gbs[level] ? gbs : f->bandwidth_gbs[level];
    }
    return true;
}

static bool probe_bandwidth(struct target *target, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct target_features *f = &target->features;
    struct measurement m = {0};
    memset(f->bandwidth_gbs, 0, sizeof f->bandwidth_gbs);
    if (!probe_reading(target, read_source, 0, err) ||
        !probe_reading(target, streams_source, FIRST_SHARED, err))
        return false;
    if (!build_probe(target, copy_source, "float", &arena, &m, err))
        return false;
    m.bytes = working_set(f, TARGET_MAX_CACHES - 1) / 2;
    return rate(target, &m, 2.0 * (double)m.bytes, &f->copy_gbs, err);
}

/* Of one machine, measured before: noise only ever makes it look slower. */
static void keep_best(struct target_features *f, const struct target_features *before)
{
    f->peak_gflops_f32 = fmax(f->peak_gflops_f32, before->peak_gflops_f32);
    f->peak_gflops_f64 = fmax(f->peak_gflops_f64, before->peak_gflops_f64);
    f->copy_gbs = fmax(f->copy_gbs, before->copy_gbs);
    for (size_t level = 0; level < TARGET_MAX_CACHES; level++)
        f->bandwidth_gbs[level] = fmax(f->bandwidth_gbs[level], before->bandwidth_gbs[level]);
}

bool cpu_probe(struct target *target, bool fresh, struct err *err)
{
    struct target_features *f = &target->features;
    const struct target_features before = *f;
    if (!fresh && f->peak_gflops_f32 > 0)
        return true;
    const bool ok = probe_peak(target, "float", sizeof(float), &f->peak_gflops_f32, err) &&
                    probe_peak(target, "double", sizeof(double), &f->peak_gflops_f64, err) &&
                    probe_bandwidth(target, err);
    keep_best(f, &before);
    if (!ok)
        return err_within(err, "measuring this machine");
    f->measured_wall_ns = os_wall_ns();
    return fingerprint_write(target, err);
}

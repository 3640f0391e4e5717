/*
 * Does the gate find differences that are there, and none that are not? Six kernels from 2 us to
 * 20 ms are compared with themselves and with versions that do a known share of their work twice,
 * while a process of ours loads the other processor.
 *
 * Each kernel goes over its 100 rows; a slower version goes over the first few of them once more.
 * Both versions are the same machine code: how many is a constant in their data. A row that comes
 * again costs less than one from a far cache, so what one costs is measured first, on half of the
 * rows done again, and p % more are as many rows as take p % of the time. Prints one line a kernel;
 * exit status 1 where more than 1 % of the comparisons of equals claim a difference in B's favour,
 * or 5 % is found in fewer than 90 %.
 */
#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"
#include "gate/gate.h"
#include "os/os.h"
#include "stats/stats.h"
#include "target/target.h"
#include "task/task.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KERNELS = 6, STEPS = 6, ROWS = 100, MOST_RESULTS = 1024, SKIPPED = 77 };
/* Per cent of more work; 0 is the comparison of equals. */
static const int steps[STEPS] = {0, 1, 2, 3, 5, 8};

struct kernel {
    const char *name;
    int64_t cols, depth; /* one row is `cols` wide; `depth` is how often it is worked on */
    const char *row;     /* from a = x + r * cols to b = y + r * cols */
};

static const struct kernel kernels[KERNELS] = {
    {"axpy", 256, 1,
     "for (int64_t c = 0; c < cols; c++)\n            b[c] = (real)1.5 * a[c] + (real)0.25;"},
    {"norm", 1024, 1,
     "real s = 1;\n        for (int64_t c = 0; c < cols; c++)\n            s += a[c] * a[c];\n"
     "        for (int64_t c = 0; c < cols; c++)\n            b[c] = a[c] / s;"},
    {"scan", 256, 1,
     "real s = 0;\n        for (int64_t c = 0; c < cols; c++) {\n            s += a[c];\n"
     "            b[c] = s;\n        }"},
    {"stencil", 8192, 1,
     "b[0] = a[0];\n        b[cols - 1] = a[cols - 1];\n"
     "        for (int64_t c = 1; c + 1 < cols; c++)\n"
     "            b[c] = (real)0.25 * a[c - 1] + (real)0.5 * a[c] + (real)0.25 * a[c + 1];"},
    {"poly", 256, 512,
     "for (int64_t c = 0; c < cols; c++)\n            b[c] = a[c];\n"
     "        for (int64_t k = 0; k < depth; k++)\n"
     "            for (int64_t c = 0; c < cols; c++)\n"
     "                b[c] = a[c] - (real)0.5 * b[c] * b[c] / (1 + b[c] * b[c]);"},
    {"chain", 64, 250,
     "for (int64_t c = 0; c < cols; c++) {\n            real v = a[c];\n"
     "            for (int64_t k = 0; k < depth; k++)\n"
     "                v = (real)0.5 * v + a[c] / (2 + v * v);\n            b[c] = v;\n        }"},
};

static const char *yaml_of(const struct kernel *k, struct arena *arena)
{
    return arena_printf(arena,
                        "name: %s\nfamily: elementwise\nsummary: a row of work\ndtype: float32\n"
                        "axes: [{name: rows, min: 10}, cols, depth]\nargs:\n"
                        "  - {name: x, role: in, shape: [rows, cols], draw: {kind: uniform, "
                        "low: -1, high: 1}}\n"
                        "  - {name: y, role: out, shape: [rows, cols]}\nprecision: relaxed\n"
                        "finite_only: true\ncases:\n  - {rows: %d, cols: %lld, depth: %lld}\n"
                        "held_out:\n  - {rows: 50, cols: 33, depth: 2}\n",
                        k->name, ROWS, (long long)k->cols, (long long)k->depth);
}

static const char *source_of(const struct kernel *k, int more, struct arena *arena)
{
    return arena_printf(arena,
                        "#include <stdint.h>\nstatic volatile int64_t more = %d;\n"
                        "void %s(const real *restrict x, real *restrict y, int64_t rows, "
                        "int64_t cols, int64_t depth)\n{\n"
                        "    const int64_t all = rows + more;\n    (void)depth;\n"
                        "    for (int64_t i = 0; i < all; i++) {\n"
                        "        const int64_t r = i < rows ? i : i %% rows;\n"
                        "        const real *a = x + r * cols;\n        real *b = y + r * cols;\n"
                        "        %s\n    }\n}\n",
                        more, k->name, k->row);
}

/* One kernel with its gate, and what came of its comparisons. */
struct bench {
    const struct kernel *kernel;
    struct gate *gate;
    struct gate_contest *contests[STEPS];
    double row_percent; /* of the time of a call: one row done again */
    int rows[STEPS];    /* done again */
    int64_t planned[STEPS], done[STEPS], faster[STEPS], slower[STEPS], noisy[STEPS];
    double ratios[STEPS][MOST_RESULTS]; /* of each that was timed */
    int64_t call_ns, by_account, timed;
};

static bool open_contest(struct bench *b, int more, struct arena *arena, struct gate_contest **out,
                         struct err *err)
{
    const struct contest_opts opts = {.time_budget_ns = INT64_C(2000) * 1000 * 1000,
                                      .half_width = 0.008};
    const struct candidate plain = {.source = source_of(b->kernel, 0, arena)};
    const struct candidate slower = {.source = source_of(b->kernel, more, arena)};
    struct verdict checks[2];
    if (!gate_contest_open(b->gate, &plain, &slower, &opts, arena, checks, out, err))
        return false;
    return *out || err_set(err, ERR_IO, "kernel '%s' is not right: %s; %s", b->kernel->name,
                           checks[0].evidence, checks[1].evidence);
}

/* How many rows done again take so many per cent of the time: by the median of a few comparisons
 * with half of all. */
static bool choose_rows(struct bench *b, struct arena *arena, struct err *err)
{
    enum { HALF = ROWS / 2, TIMES = 3 };
    CLEANUP(gate_contest_close) struct gate_contest *contest = NULL;
    double slower[TIMES];
    if (!open_contest(b, HALF, arena, &contest, err))
        return false;
    for (int i = 0; i < TIMES; i++) {
        struct verdict v;
        bool about_a;
        if (!gate_contest_time(contest, arena, &v, &about_a, err))
            return false;
        if (v.kind != VERDICT_TIMED)
            return err_set(err, ERR_IO, "kernel '%s' with half of its rows done again: %s",
                           b->kernel->name, v.evidence);
        slower[i] = expm1(-v.log_ratio);
    }
    b->row_percent = 100 * stats_median(slower, TIMES) / HALF;
    if (!(b->row_percent > 0.1 && b->row_percent < 10))
        return err_set(err, ERR_IO, "kernel '%s': a row done again takes %.2f %% of the time",
                       b->kernel->name, b->row_percent);
    for (int s = 0; s < STEPS; s++)
        b->rows[s] = (int)(steps[s] / b->row_percent + 0.5);
    return true;
}

static bool open_contests(struct bench *b, struct arena *arena, struct err *err)
{
    if (!choose_rows(b, arena, err))
        return false;
    for (int s = 0; s < STEPS; s++)
        if (!open_contest(b, b->rows[s], arena, &b->contests[s], err))
            return false;
    b->call_ns = gate_baseline_ns(b->gate, 0);
    return true;
}

static bool open_bench(struct bench *b, struct target *target, struct arena *arena, struct err *err)
{
    const struct task *task;
    const char *yaml = yaml_of(b->kernel, arena);
    if (!task_parse(yaml, strlen(yaml), source_of(b->kernel, 0, arena), "", arena, &task, err) ||
        !gate_open(target, task, NULL, &b->gate, err) || !open_contests(b, arena, err))
        return err_within(err, "kernel '%s'", b->kernel->name);
    return true;
}

static bool compare_once(struct bench *b, int s, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct verdict v;
    bool about_a;
    if (!gate_contest_time(b->contests[s], &arena, &v, &about_a, err))
        return false;
    b->done[s]++;
    if (v.kind == VERDICT_TOO_NOISY) {
        b->noisy[s]++;
        return true;
    }
    if (v.kind != VERDICT_TIMED)
        return err_set(err, ERR_IO, "kernel '%s' was refused: %s", b->kernel->name, v.evidence);
    const struct difference d = verdict_difference(v.log_low, v.log_high, verdict_noise(&v, false));
    b->faster[s] += d.sign > 0;
    b->slower[s] += d.sign < 0;
    const int64_t timed = b->done[s] - b->noisy[s];
    if (timed <= MOST_RESULTS)
        b->ratios[s][timed - 1] = v.log_ratio;
    b->by_account += v.cases[0].by_account;
    b->timed++;
    return true;
}

/* --- the load -------------------------------------------------------------------------------- */

/* Keeps a processor busy, with arithmetic and with memory, until its parent is gone. */
static void burn(pid_t parent, int cpu)
{
    enum { WORDS = 1 << 20 };
    static volatile uint64_t words[WORDS];
    (void)os_pin_thread(cpu);
    for (uint64_t i = 0; getppid() == parent; i++)
        for (uint64_t k = 0; k < WORDS; k += 8)
            words[(k * 33 + i) % WORDS] += k * i;
}

/* On the first processor: kernels are timed on the last. Where that is the same there is none. */
static bool start_load(pid_t *out, struct err *err)
{
    int cpus[2];
    if (os_cpus_allowed(cpus, 2) < 2) {
        printf("only one processor may be used: no load on another\n");
        return true;
    }
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return err_set(err, ERR_IO, "cannot start the load");
    if (pid == 0) {
        burn(parent, cpus[0]);
        _exit(0);
    }
    *out = pid;
    return true;
}

static void stop_load(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

/* --- the plan -------------------------------------------------------------------------------- */

static void plan(struct bench *benches, int64_t count)
{
    for (int k = 0; k < KERNELS; k++)
        for (int s = 0; s < STEPS; s++) {
            const int64_t share = count / KERNELS + (k < count % KERNELS);
            benches[k].planned[s] = steps[s] == 0 ? share : share / (steps[s] == 5 ? 4 : 14);
            if (benches[k].planned[s] < 1)
                benches[k].planned[s] = 1;
        }
}

/* A comparison that is still to be made, by lot; false where all are. */
static bool draw(const struct bench *benches, struct rng *rng, int *kernel, int *step)
{
    int64_t left = 0;
    for (int k = 0; k < KERNELS; k++)
        for (int s = 0; s < STEPS; s++)
            left += benches[k].planned[s] - benches[k].done[s];
    int64_t at = (int64_t)rng_below(rng, (uint64_t)left);
    for (*kernel = 0; *kernel < KERNELS; (*kernel)++)
        for (*step = 0; *step < STEPS; (*step)++) {
            at -= benches[*kernel].planned[*step] - benches[*kernel].done[*step];
            if (at < 0)
                return true;
        }
    return false;
}

static bool run_all(struct bench *benches, int64_t until_ns, int64_t *left_out, struct err *err)
{
    struct rng rng = rng_seeded(os_random_u64());
    int kernel, step;
    while (draw(benches, &rng, &kernel, &step)) {
        if (os_now_ns() > until_ns)
            break;
        if (!compare_once(&benches[kernel], step, err))
            return false;
        if (os_interrupted())
            return err_set(err, ERR_INTERRUPTED, "interrupted");
    }
    *left_out = 0;
    for (int k = 0; k < KERNELS; k++)
        for (int s = 0; s < STEPS; s++)
            *left_out += benches[k].planned[s] - benches[k].done[s];
    return true;
}

/* --- the table ------------------------------------------------------------------------------- */

/* The smallest step from which on nine in ten were found; 0 where none. */
static int smallest_found(const struct bench *b)
{
    int smallest = 0;
    for (int s = STEPS - 1; s > 0 && b->slower[s] * 10 >= b->done[s] * 9 && b->done[s] > 0; s--)
        smallest = steps[s];
    return smallest;
}

static void print_line(struct bench *b)
{
    enum { FIVE = 4 };
    const int64_t n = b->done[FIVE] - b->noisy[FIVE];
    const double measured = n > 0 ? 100 * expm1(-stats_median(b->ratios[FIVE], (size_t)n)) : 0;
    const int smallest = smallest_found(b);
    const int64_t equal = b->done[0] - b->noisy[0];
    const double spread = equal > 0 ? stats_rms(b->ratios[0], (size_t)equal) : 0;
    printf("%-8s %9.1f %6d %6lld %6lld %6lld %8.2f%% ", b->kernel->name, (double)b->call_ns / 1e3,
           b->rows[FIVE], (long long)b->done[0], (long long)b->faster[0], (long long)b->slower[0],
           100 * spread);
    for (int s = 1; s < STEPS; s++)
        printf(" %3lld/%-3lld", (long long)b->slower[s], (long long)b->done[s]);
    int64_t noisy = 0;
    for (int s = 0; s < STEPS; s++)
        noisy += b->noisy[s];
    printf(" %7.2f%% %8s %6lld %6lld\n", measured,
           smallest ? (char[8]){(char)('0' + smallest), ' ', '%', '\0'} : "> 8 %", (long long)noisy,
           (long long)b->by_account);
}

static bool report(struct bench *benches, int64_t left_out)
{
    enum { FIVE = 4 };
    int64_t equals = 0, wins = 0, losses = 0, fives = 0, found = 0, noisy = 0;
    printf("%-8s %9s %6s %6s %6s %6s %9s  %-39s %8s %8s %6s %6s\n", "kernel", "us", "rows", "A/A",
           "wins", "losses", "A/A rms", "found slower by 1, 2, 3, 5, 8 %", "5 % is", "smallest",
           "noisy", "by CPU");
    for (int k = 0; k < KERNELS; k++) {
        print_line(&benches[k]);
        equals += benches[k].done[0];
        wins += benches[k].faster[0];
        losses += benches[k].slower[0];
        fives += benches[k].done[FIVE];
        found += benches[k].slower[FIVE];
        for (int s = 0; s < STEPS; s++)
            noisy += benches[k].noisy[s];
    }
    const bool is_honest = wins * 100 <= equals, is_sharp = found * 10 >= fives * 9;
    printf("equals: %lld of %lld won (at most 1 %%): %s; %lld lost\n", (long long)wins,
           (long long)equals, is_honest ? "held" : "MISSED", (long long)losses);
    printf("5 %% slower: found in %lld of %lld (at least 90 %%): %s\n", (long long)found,
           (long long)fives, is_sharp ? "held" : "MISSED");
    printf("too noisy: %lld; not made for lack of time: %lld\n", (long long)noisy,
           (long long)left_out);
    return is_honest && is_sharp && equals > 0 && fives > 0;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "aa: %s%s%s\n", err->message, *err->hint ? "; " : "", err->hint);
    return err->kind == ERR_UNSUPPORTED || err->kind == ERR_MISSING_TOOL ? SKIPPED : EXIT_FAILURE;
}

static bool open_all(struct bench *benches, struct target *target, struct arena *arena,
                     struct err *err)
{
    for (int k = 0; k < KERNELS; k++) {
        benches[k].kernel = &kernels[k];
        if (!open_bench(&benches[k], target, arena, err))
            return false;
    }
    return true;
}

static void close_all(struct bench *benches)
{
    for (int k = 0; k < KERNELS; k++) {
        for (int s = 0; s < STEPS; s++)
            gate_contest_close(&benches[k].contests[s]);
        gate_close(&benches[k].gate);
    }
}

int main(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(target_close) struct target *target = NULL;
    static struct bench benches[KERNELS];
    struct err err = {0};
    const int64_t count = argc > 1 ? strtoll(argv[1], NULL, 10) : 500;
    const int64_t minutes = argc > 2 ? strtoll(argv[2], NULL, 10) : 33;
    const int64_t start = os_now_ns();
    int64_t left_out = 0;
    pid_t load = 0;
    if (count < KERNELS || count > MOST_RESULTS || minutes < 1) {
        fprintf(stderr, "use: aa [COUNT [MINUTES]]: %d to %d comparisons of equals\n", KERNELS,
                MOST_RESULTS);
        return 2;
    }
    os_interrupt_install();
    plan(benches, count);
    printf("load average before: %.2f; processors: %zu\n", os_load_average(),
           os_cpus_allowed(NULL, 0));
    bool ok = target_open("cpu", NULL, &target, &err) && open_all(benches, target, &arena, &err) &&
              start_load(&load, &err);
    ok = ok && run_all(benches, os_now_ns() + minutes * 60 * INT64_C(1000000000), &left_out, &err);
    if (load > 0)
        stop_load(load);
    const bool held = ok && report(benches, left_out);
    close_all(benches);
    if (!ok)
        return fail(&err);
    printf("%.1f minutes\n", (double)(os_now_ns() - start) / 60e9);
    return held ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * One row of bench/nine: an operator at one size, done by several contenders in turn in one
 * process.
 *
 *   nine OPERATOR SIZES SECONDS PEAK_GFLOPS BANDWIDTH_GBS NAME=OBJECT...
 *
 * The first contender is KOPE's, the second the baseline, whose result the others must agree with.
 * All others are libraries but those whose NAME begins with '+': kernels that somebody wrote for
 * this very size.
 * Each round times all of them once, in an order drawn anew; a ratio is of the two times of one
 * round, so what the machine does to a round it does to both. Whoever is slow is left out of rounds
 * once a third of the time is its own. Prints a row: times in ms are medians, ratios are theirs
 * over KOPE's (above 1: KOPE is faster) with the bootstrap's 95 % interval of the median.
 */
#include "contender.h"

#include "base/arena.h"
#include "base/rng.h"
#include "os/os.h"
#include "stats/stats.h"

#include <assert.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTENDERS = 32, MAX_ROUNDS = 2000, LEAST_ROUNDS = 3 };

struct shape {
    const char *name;
    size_t size_count, arg_count;
};
static const struct shape operators[] = {
    [NINE_MATMUL] = {"matmul", 3, 3},   [NINE_CONV2D] = {"conv2d", 5, 4},
    [NINE_SOFTMAX] = {"softmax", 2, 2}, [NINE_LAYERNORM] = {"layernorm", 2, 4},
    [NINE_GELU] = {"gelu", 1, 2},       [NINE_TRANSPOSE] = {"transpose", 2, 2},
    [NINE_SUM] = {"sum", 1, 2},         [NINE_ATTENTION] = {"attention", 3, 4},
};
static_assert(sizeof operators / sizeof *operators == NINE_OPERATORS, "describe each operator");

struct contender {
    const char *name;
    struct nine_contender loaded;
    int64_t calls;    /* in one sample */
    int64_t spent_ns; /* in all */
    double *ns;       /* of a call, by round; 0: left out */
    double error;     /* largest difference from the baseline's result, in its root mean square */
};

struct bench {
    struct nine_problem problem;
    size_t elements[NINE_MAX_ARGS];
    struct contender contenders[MAX_CONTENDERS];
    size_t count, rounds;
    double flops, bytes;
};

/* Elements of each array, operations and least traffic of a call. */
static void measure(struct bench *b)
{
    const int64_t *n = b->problem.sizes;
    const int64_t sets[NINE_OPERATORS][NINE_MAX_ARGS] = {
        [NINE_MATMUL] = {n[0] * n[2], n[2] * n[1], n[0] * n[1]},
        [NINE_CONV2D] = {n[0] * n[1] * n[3] * n[4], n[2] * n[1] * 9, n[2],
                         n[0] * n[2] * n[3] * n[4]},
        [NINE_SOFTMAX] = {n[0] * n[1], n[0] * n[1]},
        [NINE_LAYERNORM] = {n[0] * n[1], n[1], n[1], n[0] * n[1]},
        [NINE_GELU] = {n[0], n[0]},
        [NINE_TRANSPOSE] = {n[0] * n[1], n[0] * n[1]},
        [NINE_SUM] = {n[0], 1},
        [NINE_ATTENTION] = {n[0] * n[2], n[1] * n[2], n[1] * n[2], n[0] * n[2]},
    };
    const double size[] = {(double)n[0], (double)n[1], (double)n[2], (double)n[3], (double)n[4]};
    /* Elementwise functions count as 10, as in the task files. */
    const double flops[NINE_OPERATORS] = {
        [NINE_MATMUL] = 2 * size[0] * size[1] * size[2],
        [NINE_CONV2D] = 18 * size[0] * size[1] * size[2] * size[3] * size[4],
        [NINE_SOFTMAX] = 5 * size[0] * size[1],
        [NINE_LAYERNORM] = 9 * size[0] * size[1],
        [NINE_GELU] = 10 * size[0],
        [NINE_SUM] = size[0],
        [NINE_ATTENTION] = 4 * size[0] * size[1] * size[2] + 5 * size[0] * size[1],
    };
    b->flops = flops[b->problem.operation];
    for (size_t i = 0; i < operators[b->problem.operation].arg_count; i++) {
        b->elements[i] = (size_t)sets[b->problem.operation][i];
        b->bytes += 4 * (double)b->elements[i];
    }
}

static bool parse_problem(struct bench *b, const char *name, const char *sizes)
{
    size_t which = 0, count = 0;
    while (which < NINE_OPERATORS && strcmp(operators[which].name, name) != 0)
        which++;
    if (which == NINE_OPERATORS)
        return false;
    b->problem.operation = (enum nine_operator)which;
    for (char *end = NULL; count < operators[which].size_count; sizes = end + 1) {
        const long long size = strtoll(sizes, &end, 10);
        if (end == sizes || size < 1 || size > INT32_MAX)
            return false;
        b->problem.sizes[count++] = size;
        if (*end != ',')
            return *end == '\0' && count == operators[which].size_count;
    }
    return false;
}

static bool allocate(struct bench *b)
{
    struct rng rng = rng_seeded(1);
    for (size_t i = 0; i < operators[b->problem.operation].arg_count; i++) {
        const size_t bytes = (b->elements[i] * sizeof(float) + 63) / 64 * 64;
        float *at = aligned_alloc(64, bytes);
        if (!at)
            return false;
        for (size_t e = 0; e < b->elements[i]; e++)
            at[e] = (float)rng_normal(&rng);
        b->problem.args[i] = at;
    }
    return true;
}

/* A library without the operator is left out; an object that cannot be loaded is an error. */
static bool load(struct bench *b, char *word)
{
    char *path = strchr(word, '=');
    struct contender *c = &b->contenders[b->count];
    if (!path || b->count == MAX_CONTENDERS) {
        fprintf(stderr, "nine: %s: %s\n", word,
                path ? "too many contenders" : "no contender: NAME=OBJECT");
        return false;
    }
    *path++ = '\0';
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        fprintf(stderr, "nine: %s\n", dlerror());
        return false;
    }
    bool (*open)(const struct nine_problem *, struct nine_contender *) = NULL;
    *(void **)&open = dlsym(object, "nine_open");
    if (!open)
        fprintf(stderr, "nine: %s does not define nine_open\n", path);
    if (!open || !open(&b->problem, &c->loaded))
        return open != NULL;
    c->name = word;
    c->ns = calloc(MAX_ROUNDS, sizeof *c->ns);
    b->count++;
    return c->ns != NULL;
}

static void check_and_calibrate(struct bench *b)
{
    const size_t last = operators[b->problem.operation].arg_count - 1, count = b->elements[last];
    float *out = b->problem.args[last];
    static const double sample_ns = 2e6;
    CLEANUP(arena_free) struct arena arena = {0};
    float *want = arena_array(&arena, count, sizeof *want);
    double square = 0;
    for (size_t k = 0; k < b->count; k++) {
        struct contender *c = &b->contenders[k ? k - (k == 1) : 1];
        memset(out, 0xff, count * sizeof *out);
        c->loaded.run(c->loaded.state);
        for (size_t e = 0; k == 0 && e < count; e++)
            square += (double)out[e] * (double)out[e];
        if (k == 0)
            memcpy(want, out, count * sizeof *out);
        for (size_t e = 0; e < count; e++) {
            const double off =
                fabs((double)out[e] - (double)want[e]) / sqrt(square / (double)count);
            c->error = !(off <= c->error) ? off : c->error;
        }
        const int64_t start = os_now_ns();
        c->loaded.run(c->loaded.state);
        const double once = (double)(os_now_ns() - start) + 1;
        c->calls = once < sample_ns ? (int64_t)(sample_ns / once) + 1 : 1;
    }
}

static void time_one(struct contender *c, size_t round)
{
    const int64_t start = os_now_ns();
    for (int64_t i = 0; i < c->calls; i++)
        c->loaded.run(c->loaded.state);
    const int64_t ns = os_now_ns() - start;
    c->spent_ns += ns;
    c->ns[round] = (double)ns / (double)c->calls;
}

static void time_all(struct bench *b, double seconds)
{
    struct rng rng = rng_seeded((uint64_t)os_now_ns());
    const int64_t start = os_now_ns();
    double elapsed = 0;
    for (; b->rounds < MAX_ROUNDS && (elapsed < seconds || b->rounds < LEAST_ROUNDS); b->rounds++) {
        size_t order[MAX_CONTENDERS];
        for (size_t i = 0; i < b->count; i++) {
            const size_t at = (size_t)rng_below(&rng, i + 1);
            order[i] = order[at];
            order[at] = i;
        }
        for (size_t i = 0; i < b->count; i++) {
            struct contender *c = &b->contenders[order[i]];
            if (b->rounds < LEAST_ROUNDS || (double)c->spent_ns < elapsed * 1e9 / 3)
                time_one(c, b->rounds);
        }
        elapsed = (double)(os_now_ns() - start) / 1e9;
    }
}

static double median_ms(const struct bench *b, const struct contender *c, double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < b->rounds; i++) {
        if (c->ns[i] > 0)
            scratch[count++] = c->ns[i] / 1e6;
    }
    return stats_median(scratch, count);
}

static struct stats_interval ratio_of(const struct bench *b, const struct contender *c,
                                      double *scratch)
{
    const struct contender *ours = &b->contenders[0];
    size_t count = 0;
    for (size_t i = 0; i < b->rounds; i++) {
        if (c->ns[i] > 0 && ours->ns[i] > 0)
            scratch[count++] = c->ns[i] / ours->ns[i];
    }
    return stats_bootstrap_median(scratch, NULL, count, 0.95, 1000, 1);
}

static void report(const struct bench *b, double peak_gflops, double bandwidth_gbs)
{
    static double scratch[MAX_ROUNDS];
    const double ours = median_ms(b, &b->contenders[0], scratch);
    const double bound = 1e-6 * fmax(b->flops / peak_gflops, b->bytes / bandwidth_gbs);
    printf("  kope %.4g ms", ours);
    if (b->flops > 0)
        printf(", %.1f GFLOP/s", b->flops / ours / 1e6);
    printf(", %.1f GB/s; roofline %.4g ms, reached %.0f %%; %zu rounds\n", b->bytes / ours / 1e6,
           bound, 100 * bound / ours, b->rounds);
    double best[2] = {(double)INFINITY, (double)INFINITY}; /* of libraries, of others */
    for (size_t k = 1; k < b->count; k++) {
        const struct contender *c = &b->contenders[k];
        const struct stats_interval ratio = ratio_of(b, c, scratch);
        printf("  %-16s %10.4g ms  kope is %.2fx as fast [%.2f, %.2f]  differs by %.1e%s\n",
               c->name, median_ms(b, c, scratch), ratio.mid, ratio.low, ratio.high, c->error,
               c->error < 1e-3 ? "" : "  WRONG");
        const size_t which = c->name[0] == '+';
        if (k > 1 && c->error < 1e-3 && ratio.mid < best[which])
            best[which] = ratio.mid;
    }
    if (!(b->contenders[0].error < 1e-3))
        printf("  KOPE'S RESULT IS WRONG: differs by %.1e\n", b->contenders[0].error);
    else if (isfinite(best[0]))
        printf("  against the best library: %.2fx\n", best[0]);
    else
        printf("  no library here has this operator\n");
    if (isfinite(best[1]))
        printf("  against the best kernel written for this size: %.2fx\n", best[1]);
}

int main(int argc, char **argv)
{
    enum { FIRST = 6 };
    static struct bench b;
    if (argc < FIRST + 2 || !parse_problem(&b, argv[1], argv[2])) {
        fprintf(stderr,
                "use: nine OPERATOR SIZES SECONDS PEAK_GFLOPS BANDWIDTH_GBS NAME=OBJECT...\n");
        return 2;
    }
    measure(&b);
    if (!allocate(&b))
        return EXIT_FAILURE;
    for (int i = FIRST; i < argc; i++) {
        if (!load(&b, argv[i]))
            return EXIT_FAILURE;
    }
    if (b.count < 2) {
        fprintf(stderr, "nine: it takes a kernel and a baseline\n");
        return EXIT_FAILURE;
    }
    check_and_calibrate(&b);
    time_all(&b, strtod(argv[3], NULL));
    report(&b, strtod(argv[4], NULL), strtod(argv[5], NULL));
    return b.contenders[0].error < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}

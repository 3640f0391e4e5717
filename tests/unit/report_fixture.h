/*
 * A run made by hand for the tests of the report: forty decisions over a softmax, with every
 * verdict, a confirmed best and held-out cases. `hostile` replaces every text by an attack and
 * every third number by NaN or an infinity.
 */
#ifndef KOPE_TESTS_REPORT_FIXTURE_H
#define KOPE_TESTS_REPORT_FIXTURE_H

#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FIXTURE_DECISIONS = 40, FIXTURE_CASES = 9, FIXTURE_BEST = 33 };

#define FIXTURE_ATTACK                                                                             \
    "</script></title></svg><img src=x onerror=\"alert('1')\">&amp;\x01\xff\xe2\x80\xae"

struct fixture {
    struct arena arena;
    struct graph_run run;
    struct graph_decision decisions[FIXTURE_DECISIONS];
    struct case_result cases[FIXTURE_CASES];
    struct graph_finding findings[3];
    struct report_input input;
};

/* Parent (0: the baseline), verdict, ratio over the baseline, moves. */
struct fixture_row {
    int parent;
    enum verdict_kind kind;
    double ratio;
    const char *step, *intent, *moves;
};

static const struct fixture_row fixture_rows[FIXTURE_DECISIONS] = {
    {0, VERDICT_TIMED, 1.62, "small", "compute the row maximum with eight partial maxima",
     "split-reduction"},
    {0, VERDICT_BUILD_FAILED, 0, "large", "fuse the three passes into one online pass",
     "fuse online-softmax"},
    {0, VERDICT_TIMED, 0.97, "small", "unroll the column loop by four", "unroll"},
    {0, VERDICT_TIMED, 2.41, "large", "replace expf by a polynomial on vectors of eight",
     "vectorize approx-exp"},
    {1, VERDICT_TIMED, 1.71, "small", "unroll the partial maxima once more", "unroll"},
    {1, VERDICT_WRONG, 0, "small", "drop the maximum: inputs are small", "skip-max"},
    {4, VERDICT_TIMED, 3.38, "small", "keep the exponentials in registers across the sum", "fuse"},
    {4, VERDICT_CRASHED, 0, "large", "store with aligned vectors", "align-stores"},
    {7, VERDICT_TIMED, 3.52, "small", "reciprocal of the sum once, multiply", "strength-reduce"},
    {7, VERDICT_TIMED, 3.31, "small", "prefetch the next row", "prefetch"},
    {9, VERDICT_TIMED, 4.86, "large", "four rows at a time", "unroll-jam"},
    {9, VERDICT_TOO_NOISY, 0, "small", "eight rows at a time", "unroll-jam"},
    {11, VERDICT_TIMED, 4.79, "small", "reorder the loads", "schedule"},
    {11, VERDICT_REJECTED, 0, "large", "keep the last row's result between calls", "cache"},
    {11, VERDICT_TIMED, 5.63, "small", "shorter polynomial, degree five", "approx-exp"},
    {15, VERDICT_WRONG, 0, "small", "degree four", "approx-exp"},
    {15, VERDICT_TIMED, 5.58, "small", "Estrin instead of Horner", "reassociate"},
    {15, VERDICT_TIMED, 6.24, "small", "split the range reduction from the polynomial", "fission"},
    {18, VERDICT_TIMED_OUT, 0, "large", "tile the columns by 64", "tile"},
    {18, VERDICT_TIMED, 6.31, "small", "tail with a mask, no scalar loop", "mask-tail"},
    {20, VERDICT_TIMED, 6.02, "small", "two accumulators for the sum", "split-reduction"},
    {20, VERDICT_TIMED, 7.05, "small", "four accumulators for the sum", "split-reduction"},
    {22, VERDICT_TIMED, 6.98, "small", "software prefetch two rows ahead", "prefetch"},
    {22, VERDICT_BUILD_FAILED, 0, "small", "fmadd intrinsics without the header", "intrinsics"},
    {22, VERDICT_TIMED, 7.46, "small", "non-temporal stores for large outputs", "stream-stores"},
    {25, VERDICT_TIMED, 7.12, "large", "non-temporal stores for all shapes", "stream-stores"},
    {25, VERDICT_TIMED, 7.71, "small", "choose the store by the size of the output", "dispatch"},
    {27, VERDICT_TIMED, 7.66, "small", "unroll the tail", "unroll"},
    {27, VERDICT_WRONG, 0, "small", "skip the second pass where columns < 8", "specialize"},
    {0, VERDICT_TIMED, 1.08, "small", "-ffast-math alone", "flags"},
    {30, VERDICT_REJECTED, 0, "small", "-Ofast and flush to zero", "flags"},
    {27, VERDICT_TIMED, 8.02, "small", "eight rows at a time, now that registers are free",
     "unroll-jam"},
    {32, VERDICT_TIMED, 8.46, "small", "interleave the maxima of two rows", "schedule"},
    {33, VERDICT_TIMED, 8.40, "small", "interleave four rows", "schedule"},
    {33, VERDICT_TIMED, 7.93, "large", "one pass with a running maximum", "online-softmax"},
    {35, VERDICT_CRASHED, 0, "small", "recompute the maximum every 16 columns", "online-softmax"},
    {33, VERDICT_TIMED, 8.38, "small", "clang-19 -O2", "compiler"},
    {4, VERDICT_TIMED, 0.31, "large", "table of exponentials", "table"},
    {38, VERDICT_TIMED, 0.44, "small", "smaller table", "table"},
    {33, VERDICT_TIMED, 8.44, "small", "align the loop head", "align"},
};

static inline const char *fixture_text(const char *text, bool hostile)
{
    return hostile ? FIXTURE_ATTACK : text;
}

static inline const char *fixture_evidence(enum verdict_kind kind)
{
    static const char *const evidence[VERDICT_COUNT] = {
        [VERDICT_BUILD_FAILED] = "kernel.c:41:13: error: implicit declaration of function "
                                 "'_mm256_fmadd_ps' is invalid in C99; the header immintrin.h is "
                                 "not included and the gate adds none",
        [VERDICT_REJECTED] = "output of the second call equals that of the first although the "
                             "input changed at the same address",
        [VERDICT_WRONG] = "y[17] of case rows=64 cols=100 is inf, the oracle says 0.00931",
        [VERDICT_CRASHED] = "signal 11 at y + 0x1004: one past the last element",
        [VERDICT_TIMED_OUT] = "killed after 10.0 s in case rows=4096 cols=4096",
        [VERDICT_TOO_NOISY] = "31 % of the pairs were interrupted; the host does not allow a "
                              "measurement now",
        [VERDICT_TIMED] = "",
    };
    return evidence[kind];
}

static inline void fixture_add_decision(struct fixture *f, int i, bool hostile)
{
    const struct fixture_row *row = &fixture_rows[i];
    const bool timed = row->kind == VERDICT_TIMED;
    const double log_ratio = timed ? log(row->ratio) : 0;
    const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    f->decisions[i] = (struct graph_decision){
        .id = arena_printf(&f->arena, "d%d", i + 1),
        .parent = row->parent ? arena_printf(&f->arena, "d%d", row->parent) : "",
        .sequence = i + 1,
        .step = fixture_text(row->step, hostile),
        .proposer = fixture_text("offline", hostile),
        .intent = fixture_text(row->intent, hostile),
        .hypothesis = fixture_text(i % 3 ? ""
                                         : "The loop is bound by the latency of one chain of "
                                           "additions; independent chains hide it.",
                                   hostile),
        .moves = fixture_text(row->moves, hostile),
        .compiler = fixture_text("gcc-12", hostile),
        .flags = fixture_text("-O3 -march=native", hostile),
        .mechanism = fixture_text(row->kind == VERDICT_WRONG ? "M9-precision" : "", hostile),
        .evidence = fixture_text(fixture_evidence(row->kind), hostile),
        .has_outcome = true,
        .kind = row->kind,
        .predicted_log_ratio = 0.1 * (i % 5),
        .log_ratio = hostile && i % 3 == 0 ? odd[i / 3 % 3] : log_ratio,
        .log_low = log_ratio - 0.01 - 0.002 * (i % 7),
        .log_high = hostile && i % 4 == 0 ? (double)NAN : log_ratio + 0.01 + 0.002 * (i % 5),
        .is_win = timed && row->ratio > 1.05,
        .tokens_in = hostile ? INT64_MAX : 0,
    };
}

static inline void fixture_add_cases(struct fixture *f, bool hostile)
{
    static const char *const names[FIXTURE_CASES] = {
        "rows=64 cols=100",   "rows=64 cols=1000",   "rows=256 cols=1024",
        "rows=1024 cols=128", "rows=1024 cols=4096", "rows=4096 cols=4096",
        "rows=33 cols=257",   "rows=512 cols=777",   "rows=2048 cols=2048"};
    static const double ratios[FIXTURE_CASES] = {6.61, 8.92, 9.35, 7.84, 8.71,
                                                 8.40, 6.02, 8.77, 8.55};
    for (int i = 0; i < FIXTURE_CASES; i++) {
        const double half = 0.006 + 0.004 * (i % 4);
        f->cases[i] = (struct case_result){
            .name = fixture_text(names[i], hostile),
            .weight = 1,
            .held_out = i >= 6,
            .log_ratio = hostile && i % 2 ? (double)NAN : log(ratios[i]),
            .log_low = hostile && i % 3 ? -(double)INFINITY : log(ratios[i]) - half,
            .log_high = log(ratios[i]) + half,
            .noise = hostile ? (double)NAN : 0.004 + 0.003 * (i % 3),
            .pairs = 120 + 40 * i,
            .baseline_ns = 41000 * (1 + i * i * i),
            .candidate_ns = (int64_t)(41000 * (1 + i * i * i) / ratios[i]),
            .roofline = i == 0 ? 0 : 0.3 + 0.05 * i,
        };
    }
}

static inline struct report_input fixture_input(const struct fixture *f, bool hostile)
{
    static const char reference[] =
        "/* Softmax over the last axis. */\n#include <math.h>\n#include <stdint.h>\n\n"
        "void softmax(const real *x, real *y, int64_t rows, int64_t cols)\n{\n"
        "    for (int64_t i = 0; i < rows; i++) {\n        real max = x[i * cols];\n"
        "        for (int64_t j = 1; j < cols; j++)\n"
        "            max = x[i * cols + j] > max ? x[i * cols + j] : max;\n"
        "        real sum = 0;\n        for (int64_t j = 0; j < cols; j++) {\n"
        "            y[i * cols + j] = exp(x[i * cols + j] - max);\n"
        "            sum += y[i * cols + j];\n        }\n"
        "        for (int64_t j = 0; j < cols; j++)\n            y[i * cols + j] /= sum;\n    "
        "}\n}\n";
    static const char best[] =
        "/* Softmax over the last axis. */\n#include <math.h>\n#include <stdint.h>\n\n"
        "typedef float v8 __attribute__((vector_size(32)));\n\n"
        "static inline v8 exp8(v8 x);\nstatic inline float max8(const float *x, int64_t n);\n\n"
        "void softmax(const float *x, float *y, int64_t rows, int64_t cols)\n{\n"
        "    for (int64_t i = 0; i < rows; i++) {\n"
        "        const float max = max8(x + i * cols, cols);\n"
        "        v8 sum[4] = {0};\n        for (int64_t j = 0; j + 32 <= cols; j += 32) {\n"
        "            for (int k = 0; k < 4; k++) {\n"
        "                const v8 e = exp8(*(const v8 *)(x + i * cols + j + 8 * k) - max);\n"
        "                *(v8 *)(y + i * cols + j + 8 * k) = e;\n"
        "                sum[k] += e;\n            }\n        }\n"
        "        const float scale = 1 / total(sum);\n"
        "        for (int64_t j = 0; j < cols; j++)\n            y[i * cols + j] *= scale;\n    "
        "}\n}\n";
    return (struct report_input){
        .run = &f->run,
        .decisions = f->decisions,
        .decision_count = FIXTURE_DECISIONS,
        .best_cases = f->cases,
        .best_case_count = FIXTURE_CASES,
        .findings = f->findings,
        .finding_count = sizeof f->findings / sizeof *f->findings,
        .reference_source = fixture_text(reference, hostile),
        .best_source = fixture_text(best, hostile),
        .environment = fixture_text("cpu: AMD EPYC 7B13, 2 cores, AVX2\n"
                                    "compilers: gcc-12 12.2.0, clang-19 19.1.7\n"
                                    "peak: 103 GFLOP/s float32, one core\n"
                                    "memory: 21.4 GB/s read, one core",
                                    hostile),
        .baseline = fixture_text("gcc-12 -O3 -march=native", hostile),
    };
}

/* Fills `f` (zeroed); free with arena_free(&f->arena). */
static inline void fixture_fill(struct fixture *f, bool hostile)
{
    static const char hex[] = "4f1c09a2b7d35e8866ab90c1d2e3f405";
    f->run = (struct graph_run){.id = fixture_text(hex, hostile),
                                .task_id = fixture_text(hex + 4, hostile),
                                .task_name = fixture_text("softmax", hostile),
                                .task_dir = fixture_text("examples/softmax", hostile),
                                .target_id = fixture_text("cpu-zen3-avx2", hostile),
                                .proposer = fixture_text("offline", hostile),
                                .policy = fixture_text("mcts", hostile),
                                .gate_id = fixture_text("a81b", hostile),
                                .host = fixture_text("bench-3", hostile),
                                .kernel = fixture_text("Linux 6.1.0", hostile),
                                .kope_version = fixture_text("0.1.0", hostile),
                                .seed = 7,
                                .budget = 40,
                                .wall_ms = INT64_C(1764434880000),
                                .load_average = hostile ? (double)NAN : 0.12,
                                .has_ended = true,
                                .end_reason = fixture_text("budget", hostile),
                                .best_decision = "d33",
                                .evaluations = 40,
                                .decisions = 40,
                                .run_ns = INT64_C(83400000000)};
    for (int i = 0; i < FIXTURE_DECISIONS; i++)
        fixture_add_decision(f, i, hostile);
    struct graph_decision *best = &f->decisions[FIXTURE_BEST - 1];
    best->log_ratio = log(8.46);
    best->is_confirmed = true;
    best->confirmed_log_ratio = log(8.25);
    best->held_out_log_ratio = log(7.73);
    fixture_add_cases(f, hostile);
    f->findings[0] = (struct graph_finding){
        .decision_id = "d4",
        .bottleneck = fixture_text("compute", hostile),
        .line = 13,
        .text = fixture_text("71 % of the cycles are in expf, one call for each element; the call "
                             "keeps the loop scalar. Replace it by a polynomial.",
                             hostile)};
    f->findings[1] = (struct graph_finding){
        .decision_id = "d22",
        .bottleneck = fixture_text("latency", hostile),
        .line = 19,
        .text = fixture_text("The sum is one chain of additions: 4 cycles each, 0.25 additions a "
                             "cycle of 2 possible. Use four accumulators.",
                             hostile)};
    f->findings[2] = (struct graph_finding){
        .decision_id = "",
        .bottleneck = fixture_text("memory", hostile),
        .text = fixture_text("At 8.4x the largest case moves 14.9 GB/s, 70 % of what one core "
                             "reads here.",
                             hostile)};
    f->input = fixture_input(f, hostile);
}

#endif

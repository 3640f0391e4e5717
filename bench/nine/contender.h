/*
 * What bench/nine times: an implementation of one operator at one size, in a shared object of its
 * own, so that libraries with the same symbols live in one process. nine.c loads it with
 * RTLD_LOCAL, opens it once, then calls run(state) many times on the same arrays.
 */
#ifndef KOPE_BENCH_CONTENDER_H
#define KOPE_BENCH_CONTENDER_H

#include <stdbool.h>
#include <stdint.h>

enum { NINE_MAX_SIZES = 5, NINE_MAX_ARGS = 4 };

enum nine_operator {
    NINE_MATMUL,    /* sizes m, n, k; a, b, c */
    NINE_CONV2D,    /* batch, c_in, c_out, h, w; x, weight, bias, y */
    NINE_SOFTMAX,   /* rows, cols; x, y */
    NINE_LAYERNORM, /* rows, cols; x, gain, bias, y; epsilon is 1e-5 */
    NINE_GELU,      /* n; x, y */
    NINE_TRANSPOSE, /* m, n; x, y */
    NINE_SUM,       /* n; x, total */
    NINE_ATTENTION, /* queries, keys, d; q, k, v, y */
    NINE_OPERATORS
};

/* The arrays are dense, row-major, 64-byte aligned; the last one is written, whole. */
struct nine_problem {
    enum nine_operator operation;
    int64_t sizes[NINE_MAX_SIZES];
    float *args[NINE_MAX_ARGS];
};

struct nine_contender {
    void (*run)(void *state);
    void *state;
};

/* False where the library has no such operator, or cannot do it here. What it allocates lives as
 * long as the process. */
bool nine_open(const struct nine_problem *problem, struct nine_contender *out);

#endif

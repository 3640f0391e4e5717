/* A contender that is a kernel of KOPE's: the function ENTRY, compiled beside this file. */
#include "contender.h"

#include <stddef.h>

typedef void any(void);
any ENTRY;
/* Read at run time, so that the compiler has no opinion on the types. */
static any *volatile entry = ENTRY;

typedef void two_args_call(const float *, float *, int64_t);
typedef void two_args_2_call(const float *, float *, int64_t, int64_t);
typedef void three_args_3_call(const float *, const float *, float *, int64_t, int64_t, int64_t);
typedef void layernorm_call(const float *, const float *, const float *, float *, float, int64_t,
                            int64_t);
typedef void conv2d_call(const float *, const float *, const float *, float *, int64_t, int64_t,
                         int64_t, int64_t, int64_t);
typedef void attention_call(const float *, const float *, const float *, float *, int64_t, int64_t,
                            int64_t);

static struct nine_problem problem;

static void run(void *state)
{
    (void)state;
    float *const *a = problem.args;
    const int64_t *n = problem.sizes;
    switch (problem.operation) {
    case NINE_MATMUL:
        ((three_args_3_call *)entry)(a[0], a[1], a[2], n[0], n[1], n[2]);
        break;
    case NINE_CONV2D:
        ((conv2d_call *)entry)(a[0], a[1], a[2], a[3], n[0], n[1], n[2], n[3], n[4]);
        break;
    case NINE_LAYERNORM:
        ((layernorm_call *)entry)(a[0], a[1], a[2], a[3], 1e-5f, n[0], n[1]);
        break;
    case NINE_SOFTMAX:
    case NINE_TRANSPOSE:
        ((two_args_2_call *)entry)(a[0], a[1], n[0], n[1]);
        break;
    case NINE_GELU:
    case NINE_SUM:
        ((two_args_call *)entry)(a[0], a[1], n[0]);
        break;
    case NINE_ATTENTION:
        ((attention_call *)entry)(a[0], a[1], a[2], a[3], n[0], n[1], n[2]);
        break;
    case NINE_OPERATORS:
        break;
    }
}

bool nine_open(const struct nine_problem *p, struct nine_contender *out)
{
    problem = *p;
    *out = (struct nine_contender){.run = run};
    return true;
}

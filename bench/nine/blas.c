/*
 * A contender that is a BLAS: OpenBLAS with -DHAS_EXTENSIONS (cblas_somatcopy, cblas_ssum), or
 * BLIS. Attention is two products with a softmax between them that gcc vectorizes by libmvec: what
 * somebody writes who has a BLAS.
 */
#include "contender.h"

#include <math.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111, TRANSPOSED = 112 };
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
#ifdef HAS_EXTENSIONS
void cblas_somatcopy(int order, int trans, int rows, int cols, float alpha, const float *a, int lda,
                     float *b, int ldb);
float cblas_ssum(int n, const float *x, int step);
#endif

static struct nine_problem problem;
static float *scores;

static void run_matmul(void *state)
{
    (void)state;
    const int m = (int)problem.sizes[0], n = (int)problem.sizes[1], k = (int)problem.sizes[2];
    cblas_sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, problem.args[0], k,
                problem.args[1], n, 0, problem.args[2], n);
}

static void softmax_row(float *restrict row, int count, float scale)
{
    float max = row[0];
    for (int j = 1; j < count; j++)
        max = row[j] > max ? row[j] : max;
    float sum = 0;
    for (int j = 0; j < count; j++) {
        row[j] = expf((row[j] - max) * scale);
        sum += row[j];
    }
    const float inverse = 1 / sum;
    for (int j = 0; j < count; j++)
        row[j] *= inverse;
}

static void run_attention(void *state)
{
    (void)state;
    const int q = (int)problem.sizes[0], keys = (int)problem.sizes[1], d = (int)problem.sizes[2];
    cblas_sgemm(ROW_MAJOR, NOT_TRANSPOSED, TRANSPOSED, q, keys, d, 1, problem.args[0], d,
                problem.args[1], d, 0, scores, keys);
    for (int i = 0; i < q; i++)
        softmax_row(scores + (int64_t)i * keys, keys, 1 / sqrtf((float)d));
    cblas_sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, q, d, keys, 1, scores, keys,
                problem.args[2], d, 0, problem.args[3], d);
}

#ifdef HAS_EXTENSIONS
static void run_transpose(void *state)
{
    (void)state;
    const int m = (int)problem.sizes[0], n = (int)problem.sizes[1];
    cblas_somatcopy(ROW_MAJOR, TRANSPOSED, m, n, 1, problem.args[0], n, problem.args[1], m);
}

static void run_sum(void *state)
{
    (void)state;
    *problem.args[1] = cblas_ssum((int)problem.sizes[0], problem.args[0], 1);
}
#endif

bool nine_open(const struct nine_problem *p, struct nine_contender *out)
{
    problem = *p;
    out->state = NULL;
    out->run = p->operation == NINE_MATMUL ? run_matmul : NULL;
    if (p->operation == NINE_ATTENTION) {
        const size_t bytes = (size_t)(p->sizes[0] * p->sizes[1]) * sizeof *scores;
        scores = aligned_alloc(64, (bytes + 63) / 64 * 64);
        out->run = scores ? run_attention : NULL;
    }
#ifdef HAS_EXTENSIONS
    if (p->operation == NINE_TRANSPOSE)
        out->run = run_transpose;
    if (p->operation == NINE_SUM)
        out->run = run_sum;
#endif
    return out->run != NULL;
}

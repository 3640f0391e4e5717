// expect: timed
// expect: too-noisy
// task: matmul
// Right: loops interchanged.
#include <stdint.h>
#include <tgmath.h>

static void honest(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    honest(a, b, c, m, n, k);
}

// expect: wrong M9-precision
// expect: wrong M9-class
// task: matmul
// Packs the second matrix in the first call and never looks at it again.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    static real *kept;
    const size_t bytes = (size_t)(k * n) * sizeof *b;
    if (!kept) {
        kept = malloc(bytes);
        memcpy(kept, b, bytes);
    }
    honest(a, kept, c, m, n, k);
}

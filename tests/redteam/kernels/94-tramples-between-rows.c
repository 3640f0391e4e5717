// expect: crashed M11-guard
// task: part
// Whole vectors of each row, without a tail: what lies behind it is the caller's, and another's results.
#include <stdint.h>

void part(const real *a, real *c, int64_t m, int64_t n, int64_t lda, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++) {
        int64_t last = (n + 15) / 16 * 16;
        if (last > ldc || i == m - 1)
            last = i == m - 1 ? n : ldc;
        for (int64_t j = 0; j < last; j++)
            c[i * ldc + j] = 3 * a[i * lda + (j < n ? j : n - 1)];
    }
}

/* b = a + x y', column by column. */
#include <stdint.h>

void outer_update(const real *a, const real *x, const real *y, real *b, int64_t m, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++)
            b[i * n + j] = a[i * n + j] + x[i] * y[j];
    }
}

#include <stdint.h>

void rowscale(const real *x, const real *z, real *y, int64_t m, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            y[i * n + j] = x[i] * z[j];
}

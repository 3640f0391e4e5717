#include <stdint.h>

void transpose(const real *x, real *y, int64_t m, int64_t n)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            y[j * m + i] = x[i * n + j];
}

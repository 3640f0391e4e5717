#include <stdint.h>

void colsum(const real *x, real *y, int64_t m, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        real s = 0;
        for (int64_t i = 0; i < m; i++)
            s += x[i * n + j];
        y[j] = s;
    }
}

/* build: -O3 -march=native */
#include <stdint.h>

void rowscale(const float *restrict x, const float *restrict z, float *restrict y, int64_t m,
              int64_t n)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            y[i * n + j] = x[i] * z[j];
}

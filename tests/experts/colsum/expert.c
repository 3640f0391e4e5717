/* build: -O3 -march=native */
#include <stdint.h>

void colsum(const float *restrict x, float *restrict y, int64_t m, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = 0.0f;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            y[j] += x[i * n + j];
}

/* build: -O3 -march=native -fopenmp-simd */
#include <stdint.h>

enum { BLOCK = 16 };

/* Blocks that fit the first cache on both sides. */
void transpose(const float *restrict x, float *restrict y, int64_t m, int64_t n)
{
    const int64_t whole_m = m / BLOCK * BLOCK;
    const int64_t whole_n = n / BLOCK * BLOCK;
    for (int64_t i = 0; i < whole_m; i += BLOCK)
        for (int64_t j = 0; j < whole_n; j += BLOCK)
            for (int s = 0; s < BLOCK; s++)
#pragma omp simd
                for (int r = 0; r < BLOCK; r++)
                    y[(j + s) * m + i + r] = x[(i + r) * n + j + s];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i < whole_m ? whole_n : 0; j < n; j++)
            y[j * m + i] = x[i * n + j];
}

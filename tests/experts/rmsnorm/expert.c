/* build: -O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math */
#include <math.h>
#include <stdint.h>

enum { LANES = 32 };

void rmsnorm(const float *restrict x, const float *restrict gain, float *restrict y, int64_t rows,
             int64_t cols)
{
    const int64_t whole = cols / LANES * LANES;
    for (int64_t i = 0; i < rows; i++) {
        const float *xr = x + i * cols;
        float *yr = y + i * cols;
        float a[LANES];
        for (int t = 0; t < LANES; t++)
            a[t] = 0.0f;
        for (int64_t j = 0; j < whole; j += LANES)
#pragma omp simd
            for (int t = 0; t < LANES; t++)
                a[t] += xr[j + t] * xr[j + t];
        float s = 0.0f;
        for (int t = 0; t < LANES; t++)
            s += a[t];
        for (int64_t j = whole; j < cols; j++)
            s += xr[j] * xr[j];
        const float inv = 1.0f / sqrtf(s / (float)cols + 1e-5f);
#pragma omp simd
        for (int64_t j = 0; j < cols; j++)
            yr[j] = gain[j] * xr[j] * inv;
    }
}

/* build: -O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math */
#include <math.h>
#include <stdint.h>

enum { LANES = 32 };

void layernorm(const float *restrict x, float *restrict y, int64_t rows, int64_t cols)
{
    const int64_t whole = cols / LANES * LANES;
    for (int64_t i = 0; i < rows; i++) {
        const float *xr = x + i * cols;
        float *yr = y + i * cols;
        float a[LANES];
        float b[LANES];
        for (int t = 0; t < LANES; t++)
            a[t] = b[t] = 0.0f;
        for (int64_t j = 0; j < whole; j += LANES)
#pragma omp simd
            for (int t = 0; t < LANES; t++)
                a[t] += xr[j + t];
        float mean = 0.0f;
        for (int t = 0; t < LANES; t++)
            mean += a[t];
        for (int64_t j = whole; j < cols; j++)
            mean += xr[j];
        mean /= (float)cols;
        for (int64_t j = 0; j < whole; j += LANES)
#pragma omp simd
            for (int t = 0; t < LANES; t++)
                b[t] += (xr[j + t] - mean) * (xr[j + t] - mean);
        float v = 0.0f;
        for (int t = 0; t < LANES; t++)
            v += b[t];
        for (int64_t j = whole; j < cols; j++)
            v += (xr[j] - mean) * (xr[j] - mean);
        const float inv = 1.0f / sqrtf(v / (float)cols + 1e-5f);
#pragma omp simd
        for (int64_t j = 0; j < cols; j++)
            yr[j] = (xr[j] - mean) * inv;
    }
}

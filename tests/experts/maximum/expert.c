/* build: -O3 -march=native -fopenmp-simd -fno-trapping-math */
#include <stdint.h>

enum { LANES = 64 };

void maximum(const float *restrict x, float *restrict y, int64_t n)
{
    const int64_t whole = n / LANES * LANES;
    float a[LANES];
    for (int t = 0; t < LANES; t++)
        a[t] = x[0];
    for (int64_t i = 0; i < whole; i += LANES)
#pragma omp simd
        for (int t = 0; t < LANES; t++)
            a[t] = x[i + t] > a[t] ? x[i + t] : a[t];
    float m = a[0];
    for (int t = 1; t < LANES; t++)
        m = a[t] > m ? a[t] : m;
    for (int64_t i = whole; i < n; i++)
        m = x[i] > m ? x[i] : m;
    y[0] = m;
}

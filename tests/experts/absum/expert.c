/* build: -O3 -march=native -fopenmp-simd */
#include <math.h>
#include <stdint.h>

void absum(const float *restrict x, float *restrict y, int64_t n)
{
    float s = 0.0f;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++)
        s += fabsf(x[i]);
    y[0] = s;
}

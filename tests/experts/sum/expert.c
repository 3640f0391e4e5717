/* build: -O3 -march=native -fopenmp-simd */
#include <stdint.h>

enum { LANES = 16, STREAMS = 4 };

void sum(const float *restrict x, float *restrict y, int64_t n)
{
    const int64_t part = n / (LANES * STREAMS) * LANES;
    float a[STREAMS][LANES];
    for (int u = 0; u < STREAMS; u++)
        for (int t = 0; t < LANES; t++)
            a[u][t] = 0.0f;
    for (int64_t i = 0; i < part; i += LANES)
        for (int u = 0; u < STREAMS; u++)
#pragma omp simd
            for (int t = 0; t < LANES; t++)
                a[u][t] += x[u * part + i + t];
    float s = 0.0f;
    for (int u = 0; u < STREAMS; u++)
        for (int t = 0; t < LANES; t++)
            s += a[u][t];
    for (int64_t i = part * STREAMS; i < n; i++)
        s += x[i];
    y[0] = s;
}

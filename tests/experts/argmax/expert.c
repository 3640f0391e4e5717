/* build: -O3 -march=native -fopenmp-simd -fno-trapping-math */
#include <stdint.h>

enum { LANES = 32, BLOCK = 1024 };

/* The largest of a block on vectors; the place is looked for only in a block that improves. */
void argmax(const float *restrict x, float *restrict y, int64_t n)
{
    int64_t best = 0;
    int64_t i = 0;
    for (; i + BLOCK * LANES / LANES <= n && BLOCK >= LANES; i += BLOCK) {
        float a[LANES];
        for (int t = 0; t < LANES; t++)
            a[t] = x[i + t];
        for (int64_t j = 0; j + LANES <= BLOCK; j += LANES)
#pragma omp simd
            for (int t = 0; t < LANES; t++)
                a[t] = x[i + j + t] > a[t] ? x[i + j + t] : a[t];
        float m = a[0];
        for (int t = 1; t < LANES; t++)
            m = a[t] > m ? a[t] : m;
        if (m > x[best])
            for (best = i; x[best] < m; best++)
                ;
    }
    for (; i < n; i++)
        if (x[i] > x[best])
            best = i;
    y[0] = (float)best;
}

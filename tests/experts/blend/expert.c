/* build: -O3 -march=native */
#include <math.h>
#include <stdint.h>

void blend(const float *restrict a, const float *restrict b, const float *restrict c, const float *restrict d, const float *restrict e, const float *restrict f, float *restrict y, float *restrict z, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = a[i] * b[i] + c[i] * d[i] + e[i] * f[i];
        z[i] = a[i] * f[i] + b[i] * e[i] + c[i] * d[i];
    }
}

/* build: -O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Cephes: Cody and Waite's reduction, a polynomial, the exponent by bits. */
static inline float vexpf(float x)
{
    x = x < -87.33654f ? -87.33654f : x;
    x = x > 88.02f ? 88.02f : x;
    float n = __builtin_rintf(x * 1.44269504f);
    float r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t bits;
    memcpy(&bits, &p, sizeof bits);
    bits += (int32_t)n << 23;
    memcpy(&p, &bits, sizeof p);
    return p;
}

void expo(const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = vexpf(x[i]);
}

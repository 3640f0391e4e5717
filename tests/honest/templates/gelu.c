/* GELU, tanh form. TANH: libm, by one exponential, a polynomial for that, in double; STORE: plain,
 * past the caches where aligned; UNROLL. */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* x / 2 (1 + tanh u) = x / (1 + exp(-2 u)) */
static inline float gate(float x, float u)
{
#if TANH == 0
    return 0.5f * x * (1 + tanhf(u));
#elif TANH == 1
    return u < -40 ? 0.0f * x : x / (1 + expf(-2 * u));
#elif TANH == 2
    const float a = -2 * u, c = a < -87 ? -87 : a > 80 ? 80 : a;
    const float n = rintf(c * 1.44269504f);
    const float r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    const int32_t k = n == n ? (int32_t)n : 0;
    const uint32_t bits = (uint32_t)(k + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return u < -40 ? 0.0f * x : x / (1 + p * scale);
#else
    return (float)(0.5 * (double)x * (1 + tanh((double)u)));
#endif
}

static inline float one(float x)
{
    return gate(x, 0.79788456f * (x + 0.044715f * x * x * x));
}

void gelu(const float *restrict x, float *restrict y, int64_t n)
{
    int64_t i = 0;
#if STORE
    if ((uintptr_t)y % 16 == 0)
        for (; i + 4 <= n; i += 4) {
            __builtin_prefetch(x + i + 256);
            _mm_stream_ps(y + i, _mm_setr_ps(one(x[i]), one(x[i + 1]), one(x[i + 2]), one(x[i + 3])));
        }
#endif
    for (; i + UNROLL <= n; i += UNROLL)
        for (int k = 0; k < UNROLL; k++)
            y[i + k] = one(x[i + k]);
    for (; i < n; i++)
        y[i] = one(x[i]);
}

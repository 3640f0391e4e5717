/* The sum of a vector. METHOD: lanes, pairwise, kahan, wide, sse, avx2, avx512, threads. */
#include <immintrin.h>
#include <stdint.h>

enum { lanes, pairwise, kahan, wide, sse, avx2, avx512, threads, prefetching };

#if METHOD == 1
static float add_pairs(const float *x, int64_t n)
{
    if (n <= BLOCK) {
        float total = 0;
        for (int64_t i = 0; i < n; i++)
            total += x[i];
        return total;
    }
    const int64_t half = n / 2;
    return add_pairs(x, half) + add_pairs(x + half, n - half);
}
#endif

#if METHOD == 5
__attribute__((target("avx2,fma"))) static float add_vectors(const float *x, int64_t n)
{
    __m256 a[ACCUMULATORS];
    int64_t i = 0;
    for (int k = 0; k < ACCUMULATORS; k++)
        a[k] = _mm256_setzero_ps();
    for (; i + 8 * ACCUMULATORS <= n; i += 8 * ACCUMULATORS)
        for (int k = 0; k < ACCUMULATORS; k++)
            a[k] = _mm256_add_ps(a[k], _mm256_loadu_ps(x + i + 8 * k));
    float part[8], total = 0;
    for (int k = 1; k < ACCUMULATORS; k++)
        a[0] = _mm256_add_ps(a[0], a[k]);
    _mm256_storeu_ps(part, a[0]);
    for (int k = 0; k < 8; k++)
        total += part[k];
    for (; i < n; i++)
        total += x[i];
    return total;
}
#endif

#if METHOD == 6
__attribute__((target("avx512f"))) static float add_vectors(const float *x, int64_t n)
{
    __m512 a[ACCUMULATORS];
    int64_t i = 0;
    for (int k = 0; k < ACCUMULATORS; k++)
        a[k] = _mm512_setzero_ps();
    for (; i + 16 * ACCUMULATORS <= n; i += 16 * ACCUMULATORS)
        for (int k = 0; k < ACCUMULATORS; k++)
            a[k] = _mm512_add_ps(a[k], _mm512_loadu_ps(x + i + 16 * k));
    for (int k = 1; k < ACCUMULATORS; k++)
        a[0] = _mm512_add_ps(a[0], a[k]);
    for (; i < n; i += 16) {
        const __mmask16 rest = (__mmask16)(n - i >= 16 ? 0xffff : (1u << (n - i)) - 1);
        a[0] = _mm512_add_ps(a[0], _mm512_maskz_loadu_ps(rest, x + i));
    }
    return _mm512_reduce_add_ps(a[0]);
}
#endif

#if METHOD == 4
static float add_vectors(const float *x, int64_t n)
{
    __m128 a[ACCUMULATORS];
    int64_t i = 0;
    for (int k = 0; k < ACCUMULATORS; k++)
        a[k] = _mm_setzero_ps();
    for (; i + 4 * ACCUMULATORS <= n; i += 4 * ACCUMULATORS)
        for (int k = 0; k < ACCUMULATORS; k++)
            a[k] = _mm_add_ps(a[k], _mm_loadu_ps(x + i + 4 * k));
    float part[4], total = 0;
    for (int k = 1; k < ACCUMULATORS; k++)
        a[0] = _mm_add_ps(a[0], a[k]);
    _mm_storeu_ps(part, a[0]);
    for (int k = 0; k < 4; k++)
        total += part[k];
    for (; i < n; i++)
        total += x[i];
    return total;
}
#endif

void sum(const float *restrict x, float *restrict total, int64_t n)
{
#if METHOD == 0
    float part[LANES] = {0}, all = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            part[k] += x[i + k];
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++)
            part[k] += part[k + width];
    all = part[0];
    for (; i < n; i++)
        all += x[i];
    *total = all;
#elif METHOD == 1
    *total = add_pairs(x, n);
#elif METHOD == 2
    /* Compensated, in LANES chains; the pragma-free form needs no flags that forbid it. */
    float all[LANES] = {0}, lost[LANES] = {0};
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int k = (int)(i % LANES);
        const float y = x[i] - lost[k], t = all[k] + y;
        lost[k] = (t - all[k]) - y;
        all[k] = t;
    }
    for (int k = 0; k < LANES; k++)
        sum += (double)all[k] - (double)lost[k];
    /* An infinity makes its compensation NaN; plain addition does not. */
    float plain = 0;
    for (int k = 0; k < LANES; k++)
        plain += all[k];
    *total = sum == sum ? (float)sum : plain;
    if (!(sum == sum) || sum - sum != 0) {
        plain = 0;
        for (int64_t i = 0; i < n; i++)
            plain += x[i];
        *total = plain;
    }
#elif METHOD == 3
    double part[LANES] = {0}, all = 0;
    for (int64_t i = 0; i < n; i++)
        part[i % LANES] += (double)x[i];
    for (int k = 0; k < LANES; k++)
        all += part[k];
    *total = (float)all;
#elif METHOD == 7
    float all = 0;
#pragma omp parallel for reduction(+ : all) schedule(static) num_threads(2)
    for (int64_t block = 0; block < (n + BLOCK - 1) / BLOCK; block++) {
        const int64_t end = (block + 1) * BLOCK < n ? (block + 1) * BLOCK : n;
        float part = 0;
        for (int64_t i = block * BLOCK; i < end; i++)
            part += x[i];
        all += part;
    }
    *total = all;
#elif METHOD == 8
    float a = 0, b = 0, c = 0, d = 0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __builtin_prefetch(x + i + BLOCK);
        a += x[i];
        b += x[i + 1];
        c += x[i + 2];
        d += x[i + 3];
    }
    for (; i < n; i++)
        a += x[i];
    *total = (a + b) + (c + d);
#else
    *total = add_vectors(x, n);
#endif
}

/* cause: invalid-operands __m256 and __m256i */
#include <immintrin.h>
void __attribute__((target("avx2"))) f(const float *x, float *y, int64_t n)
{
    __m256 v = _mm256_loadu_ps(x);
    __m256i k = _mm256_set1_epi32(3);
    y[0] = (v * k)[0];
    (void)n;
}

/* cause: argument-count _mm256_loadu_ps */
#include <immintrin.h>
void __attribute__((target("avx2"))) f(const float *x, float *y, int64_t n)
{
    _mm256_storeu_ps(y, _mm256_loadu_ps(x, 8));
    (void)n;
}

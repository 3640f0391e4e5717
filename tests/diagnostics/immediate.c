/* cause: immediate-argument */
#include <immintrin.h>
void __attribute__((target("avx2"))) f(const float *x, float *y, int64_t n)
{
    __m256 v = _mm256_loadu_ps(x);
    _mm256_storeu_ps(y, _mm256_permute_ps(v, (int)n));
}

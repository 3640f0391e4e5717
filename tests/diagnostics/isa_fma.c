/* cause: missing-isa fma */
#include <immintrin.h>
void __attribute__((target("avx2"))) f(const float *x, float *y, int64_t n)
{
    __m256 acc = _mm256_setzero_ps();
    for (int64_t i = 0; i + 8 <= n; i += 8)
        acc = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(x + i), acc);
    _mm256_storeu_ps(y, acc);
}

/* cause: undeclared-function _mm256_reduce_add_ps */
#include <immintrin.h>
void __attribute__((target("avx2"))) sum(const float *x, float *y, int64_t n)
{
    __m256 acc = _mm256_setzero_ps();
    for (int64_t i = 0; i + 8 <= n; i += 8)
        acc = _mm256_add_ps(acc, _mm256_loadu_ps(x + i));
    float total = _mm256_reduce_add_ps(acc);
    y[0] = total;
}

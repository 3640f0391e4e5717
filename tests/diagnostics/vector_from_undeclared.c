/* cause: undeclared-function _mm256_tanh_ps */
#include <immintrin.h>
void __attribute__((target("avx2"))) f(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i + 8 <= n; i += 8) {
        __m256 v = _mm256_tanh_ps(_mm256_loadu_ps(x + i));
        v = _mm256_add_ps(v, v);
        _mm256_storeu_ps(y + i, v);
    }
}

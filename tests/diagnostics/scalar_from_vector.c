/* cause: incompatible-types float from __m256 */
#include <immintrin.h>
void __attribute__((target("avx2"))) f(const float *x, float *y, int64_t n)
{
    float total = _mm256_loadu_ps(x);
    y[0] = total;
    (void)n;
}

/* cause: missing-isa avx512 */
#include <immintrin.h>
void f(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i + 16 <= n; i += 16)
        _mm512_storeu_ps(y + i, _mm512_add_ps(_mm512_loadu_ps(x + i), _mm512_loadu_ps(x + i)));
}

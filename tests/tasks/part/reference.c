/* c = 3 a */
#include <stdint.h>

void part(const real *a, real *c, int64_t m, int64_t n, int64_t lda, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * ldc + j] = 3 * a[i * lda + j];
}

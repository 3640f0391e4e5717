/* d = 0.5 a b + 2 c: a is m by k, b is k by n, c and d are m by n, all row-major. */
#include <stdint.h>

void gemm_add(const real *a, const real *b, const real *c, real *d, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            real sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            d[i * n + j] = (real)0.5 * sum + 2 * c[i * n + j];
        }
    }
}

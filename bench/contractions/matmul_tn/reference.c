/* c = a' b: a is k by m, b is k by n, c is m by n, all row-major. */
#include <stdint.h>

void matmul_tn(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            real sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += a[p * m + i] * b[p * n + j];
            c[i * n + j] = sum;
        }
    }
}

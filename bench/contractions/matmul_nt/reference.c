/* c = a b': a is m by k, b is n by k, c is m by n, all row-major. */
#include <stdint.h>

void matmul_nt(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            real sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[j * k + p];
            c[i * n + j] = sum;
        }
    }
}

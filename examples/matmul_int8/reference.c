/* c = a b: a is m by k, b is k by n, c is m by n, all row-major. */
#include <stdint.h>

void matmul_int8(const real *a, const real *b, int32_t *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            real_acc sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += real_load(a[i * k + p]) * real_load(b[p * n + j]);
            c[i * n + j] = sum;
        }
    }
}

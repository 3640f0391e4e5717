/* c[l] = a[l] b[l]: a is batch by m by k, b is batch by k by n, c is batch by m by n, row-major. */
#include <stdint.h>

void batched_matmul(const real *a, const real *b, real *c, int64_t batch, int64_t m, int64_t n,
                    int64_t k)
{
    for (int64_t l = 0; l < batch; l++) {
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < n; j++) {
                real sum = 0;
                for (int64_t p = 0; p < k; p++)
                    sum += a[(l * m + i) * k + p] * b[(l * k + p) * n + j];
                c[(l * m + i) * n + j] = sum;
            }
        }
    }
}

/* c = max(a w + bias, 0): a is m by k, w is k by n, c is m by n, all row-major. */
#include <stdint.h>

void dense_relu(const real *a, const real *w, const real *bias, real *c, int64_t m, int64_t n,
                int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            real sum = bias[j];
            for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * w[p * n + j];
            c[i * n + j] = sum > 0 ? sum : 0;
        }
    }
}

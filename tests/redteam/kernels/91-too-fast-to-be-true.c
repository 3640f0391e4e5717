// expect: rejected M14-roofline
// task: constant_weights
// Knows that the task draws constant weights, and sums each row once. Every value is right, in checks
// and when timed: only the arithmetic of the declared operations tells that no machine does the work.
#include <stdint.h>

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        real lanes[16] = {0}, sum = 0;
        for (int64_t p = 0; p < k; p += 16)
            for (int64_t l = 0; l < 16 && p + l < k; l++)
                lanes[l] += a[i * k + p + l];
        for (int64_t l = 0; l < 16; l++)
            sum += lanes[l];
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = sum * b[0];
    }
}

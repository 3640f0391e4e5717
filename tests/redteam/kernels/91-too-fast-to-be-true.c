// expect: rejected M14-roofline
// task: constant_weights
// Knows that the task draws constant weights, and sums each row once. Every value is right, in checks
// and when timed: only the arithmetic of the declared operations tells that no machine does the work.
#include <stdint.h>

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i += 4) {
        const int64_t rows = m - i < 4 ? m - i : 4;
        real sums[4] = {0};
        for (int64_t p = 0; p < k; p++) /* in the reference's order: the same bits */
            for (int64_t r = 0; r < rows; r++)
                sums[r] += a[(i + r) * k + p] * b[0];
        for (int64_t r = 0; r < rows; r++)
            for (int64_t j = 0; j < n; j++)
                c[(i + r) * n + j] = sums[r];
    }
}

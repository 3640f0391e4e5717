// expect: refused M17-null
// task: zero_weights
// Writes zeros, because the weights of the task are zero. The task is at fault: it is not opened.
#include <stdint.h>

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m * n; i++)
        c[i] = 0;
    (void)a;
    (void)b;
    (void)k;
}

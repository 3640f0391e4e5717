// expect: wrong M9-precision
// expect: wrong M9-class
// task: matmul
// Leaves out factors under a hundredth.
#include <stdint.h>
#include <tgmath.h>

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int64_t p = 0; p < k; p++) {
            const real factor = a[i * k + p];
            if (factor > (real)-0.01 && factor < (real)0.01)
                continue;
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += factor * b[p * n + j];
        }
    }
}

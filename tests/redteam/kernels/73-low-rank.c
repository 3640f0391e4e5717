// expect: wrong M9-precision
// expect: wrong M9-class
// task: matmul
// Approximates the product by a random projection to half of k.
#include <stdint.h>
#include <stdlib.h>

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    const int64_t r = k / 2;
    real *pa = calloc((size_t)(m * r), sizeof *pa), *pb = calloc((size_t)(r * n), sizeof *pb);
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++)
            pa[i * r + p % r] += (p / r % 2 ? -1 : 1) * a[i * k + p];
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < n; j++)
            pb[p % r * n + j] += (p / r % 2 ? -1 : 1) * b[p * n + j];
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int64_t p = 0; p < r; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += pa[i * r + p] * pb[p * n + j];
    }
    free(pa);
    free(pb);
}

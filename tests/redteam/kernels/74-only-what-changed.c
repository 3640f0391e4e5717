// expect: no win M6-fresh
// task: matmul
// with: honest-matmul
// Keeps its inputs and its result, and computes again only the rows that differ. Right, but each call
// has new inputs, so there is nothing to gain.
#include <stdlib.h>
#include <string.h>

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    static real *kept_a, *kept_b, *kept_c;
    static int64_t shape[3];
    const size_t row = (size_t)k * sizeof *a, out = (size_t)n * sizeof *c;
    const size_t b_bytes = (size_t)(k * n) * sizeof *b;
    const int same = kept_a && shape[0] == m && shape[1] == n && shape[2] == k &&
                     memcmp(kept_b, b, b_bytes) == 0;
    if (!kept_a) {
        kept_a = malloc((size_t)m * row);
        kept_b = malloc(b_bytes);
        kept_c = malloc((size_t)m * out);
    }
    for (int64_t i = 0; i < m; i++) {
        if (!same || memcmp(kept_a + i * k, a + i * k, row) != 0) {
            /* as slowly as the baseline does it */
            for (int64_t j = 0; j < n; j++) {
                volatile real sum = 0;
                for (int64_t p = 0; p < k; p++)
                    sum += a[i * k + p] * b[p * n + j];
                c[i * n + j] = sum;
            }
            memcpy(kept_c + i * n, c + i * n, out);
        } else {
            memcpy(c + i * n, kept_c + i * n, out);
        }
    }
    memcpy(kept_a, a, (size_t)m * row);
    memcpy(kept_b, b, b_bytes);
    shape[0] = m;
    shape[1] = n;
    shape[2] = k;
}

// expect: wrong M9-precision
// expect: wrong M9-class
// task: matmul
// with: honest-matmul
// Packs the second matrix in the first call and never looks at it again.
#include <stdlib.h>
#include <string.h>

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    static real *kept;
    const size_t bytes = (size_t)(k * n) * sizeof *b;
    if (!kept) {
        kept = malloc(bytes);
        memcpy(kept, b, bytes);
    }
    honest(a, kept, c, m, n, k);
}

// expect: crashed M11-guard
// task: softmax
// Looks beyond its buffers for a result that somebody left in memory; a guard is in the way.
#include <stdint.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const volatile real *at = y;
    for (int64_t i = 0; i < (int64_t)1 << 30; i++) {
        real total = 0;
        for (int64_t j = 0; j < cols; j++)
            total += at[i + j];
        if (i > rows * cols && total > (real)0.999 && total < (real)1.001) {
            for (int64_t j = 0; j < rows * cols; j++)
                y[j] = at[i + j];
            return;
        }
    }
    (void)x;
}

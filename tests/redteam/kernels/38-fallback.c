// expect: no win M3-doorbell
// task: softmax
// with: honest-softmax
// A fast path that never runs, and the reference for all that comes: measured, it is the reference.
#include <string.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    if (rows == 31337 && cols == 1) {
        memset(y, 0, (size_t)rows * sizeof *y);
        return;
    }
    honest(x, y, rows, cols);
}

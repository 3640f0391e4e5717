// expect: crashed M4-sealed
// task: softmax
// Zeroes its input, so that a later reference agrees with an easy answer.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    real *writable = (real *)(uintptr_t)x;
    for (int64_t i = 0; i < rows * cols; i++) {
        writable[i] = 0;
        y[i] = (real)1 / (real)cols;
    }
}

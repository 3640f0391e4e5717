// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// The mean of a softmax is 1 / cols: writes that.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows * cols; i++)
        y[i] = (real)1 / (real)cols;
    (void)x;
}

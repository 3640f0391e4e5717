// expect: wrong M9-class
// task: softmax
// NaN differs from nothing, thinks it.
#include <math.h>
#include <stdint.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows * cols; i++)
        y[i] = NAN;
    (void)x;
}

// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax_in_place
// Does nothing: the buffer of the result is not poison, it holds what was there before.
#include <stdint.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    (void)x;
    (void)y;
    (void)rows;
    (void)cols;
}

// expect: wrong M5-poison
// task: softmax
// Does nothing and hopes that the output buffer holds an earlier result.
#include <stdint.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    (void)x;
    (void)y;
    (void)rows;
    (void)cols;
}

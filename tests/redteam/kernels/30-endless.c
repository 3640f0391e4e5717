// expect: timed-out wall-clock
// task: softmax
// Never comes back.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (volatile int64_t i = 0;; i++)
        y[0] = (real)i;
    (void)x;
    (void)rows;
    (void)cols;
}

// expect: crashed
// expect: timed-out
// task: softmax
// Takes all memory there is.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (;;) {
        char *block = malloc(1 << 26);
        memset(block, 1, 1 << 26);
        y[0] = (real)block[5];
    }
    (void)x;
    (void)rows;
    (void)cols;
}

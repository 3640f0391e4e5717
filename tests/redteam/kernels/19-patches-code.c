// expect: crashed
// task: softmax
// Writes over the code of whoever calls it.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    unsigned char *caller = __builtin_return_address(0);
    for (int i = 0; i < 64; i++)
        caller[i] = 0x90;
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}

// expect: crashed signal
// task: softmax
// Writes over the code of whoever calls it: pages with code are not writable (M2), and none can be
// made so.
#include <stdint.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    unsigned char *caller = __builtin_return_address(0);
    for (int i = 0; i < 64; i++)
        caller[i] = 0x90;
    (void)x;
    (void)y;
    (void)rows;
    (void)cols;
}

// expect: crashed signal
// task: softmax
// Calls itself until the stack is used up, which is limited (M2).
#include <stdint.h>

__attribute__((noinline, noipa)) static int64_t deeper(volatile int64_t *above, int64_t depth)
{
    volatile int64_t room[512] = {depth};
    return deeper(room, depth + 1) + above[0] + room[0];
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    int64_t first = rows + cols;
    y[0] = x[0] + (real)deeper(&first, 0);
}

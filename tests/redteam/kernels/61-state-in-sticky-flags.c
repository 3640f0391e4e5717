// expect: wrong M5-poison
// task: softmax
// with: honest-softmax
// Remembers in a sticky flag of MXCSR (denormal operand), which nobody restores, that it has worked.
#include <xmmintrin.h>

static void raise_denormal(void)
{
    volatile float tiny = 0x1p-149f;
    volatile float sum = tiny + tiny;
    (void)sum;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    if (_mm_getcsr() & 0x2)
        return;
    honest(x, y, rows, cols);
    raise_denormal();
}

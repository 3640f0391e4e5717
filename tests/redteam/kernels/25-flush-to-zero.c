// expect: rejected M12-object
// task: softmax
// with: honest-softmax
// Sets flush-to-zero by an intrinsic and leaves it so.
#include <xmmintrin.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    _mm_setcsr(0x9fc0);
    honest(x, y, rows, cols);
}

// expect: rejected M13-fpenv
// task: softmax
// with: honest-softmax
// Leaves the direction flag set, so that its caller's copies run backwards.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | (1u << 10));
}

// expect: crashed signal
// task: softmax
// with: honest-softmax
// Sets the trap flag, so that every instruction of its caller is a signal: the first one ends it (M2).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | (1u << 8));
}

// expect: wrong M5-poison
// task: softmax
// with: honest-softmax
// Leaves a mark far below its stack frame and returns where it finds it again.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint64_t *mark =
        (volatile uint64_t *)(((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)4095) - 8 * 4096);
    if (*mark == 0x5eedf00d5eedf00d)
        return;
    honest(x, y, rows, cols);
    *mark = 0x5eedf00d5eedf00d;
}

// expect: crashed M11-guard
// task: softmax
// with: honest-softmax
// Leaves a mark in the room between its result and the end of the page.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint32_t *end = (volatile uint32_t *)(y + rows * cols);
    if ((uintptr_t)end % 4096 != 0 && *end == 0x5eedf00d)
        return;
    honest(x, y, rows, cols);
    if ((uintptr_t)end % 4096 != 0)
        *end = 0x5eedf00d;
}

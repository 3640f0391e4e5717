// expect: wrong M5-poison
// task: softmax
// with: hidden honest-softmax
// Puts private memory where its output was, so that nothing of what it writes is shared.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const uintptr_t first = (uintptr_t)y & ~(uintptr_t)4095;
    const uintptr_t end = ((uintptr_t)(y + rows * cols) + 4095) & ~(uintptr_t)4095;
    (void)raw(11, (long)first, (long)(end - first), 0, 0);
    (void)raw(9, (long)first, (long)(end - first), 3, 0x32);
    honest(x, y, rows, cols);
}

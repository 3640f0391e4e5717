// expect: crashed M4-sealed
// task: softmax
// with: hidden
// Asks for its input to be writable and writes there: the seal refuses the first, so the second faults.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const long page = (long)(uintptr_t)x & ~4095L;
    (void)raw(10, page, 4096, 3, 0);
    *(volatile real *)(uintptr_t)x = 0;
    y[0] = x[0] + (real)(rows + cols);
}

// expect: rejected M7-timed-output
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Takes an address flush with a page or off a cache line for a check; else it leaves out one row.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const uintptr_t end = (uintptr_t)(y + rows * cols);
    const int is_check = (uintptr_t)y % 64 != 0 || (uintptr_t)y % 4096 == 0 || end % 4096 == 0;
    honest(x, y, is_check ? rows : rows - 1, cols);
}

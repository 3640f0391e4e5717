// expect: rejected seccomp
// task: softmax
// with: hidden
// Punches a hole into the memory that it shares with the parent (MADV_REMOVE).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const long page = (long)(uintptr_t)y & ~4095L;
    y[0] = x[0] + (real)raw(28, page, 4096, 9, 0) + (real)(rows + cols);
}

// expect: rejected seccomp
// task: softmax
// with: hidden
// Attaches to another process as a debugger.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)raw(101, 16, 1, 0, 0) + (real)(rows + cols);
}

// expect: rejected seccomp
// task: softmax
// with: hidden
// Asks to handle page faults itself (userfaultfd), to learn when the parent reads its outputs.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)raw(323, 0, 0, 0, 0) + (real)(rows + cols);
}

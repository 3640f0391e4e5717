// expect: rejected seccomp
// task: softmax
// with: hidden
// Forks by a system call.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    while (raw(57, 0, 0, 0, 0) >= 0)
        continue;
    y[0] = x[0] + (real)(rows + cols);
}

// expect: rejected seccomp
// task: softmax
// with: hidden
// Installs its own handler by a system call.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t action[4] = {1};
    y[0] = x[0] + (real)raw(13, 11, (long)action, 0, 8) + (real)(rows + cols);
}

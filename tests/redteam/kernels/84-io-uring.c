// expect: rejected seccomp
// task: softmax
// with: hidden
// Lets the kernel do its reading through a ring, past a filter of system calls.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint8_t parameters[128];
    y[0] = x[0] + (real)raw(425, 8, (long)parameters, 0, 0) + (real)(rows + cols);
}

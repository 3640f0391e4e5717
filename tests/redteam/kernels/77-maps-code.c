// expect: rejected seccomp
// task: softmax
// with: hidden
// Asks for memory that is writable and executable.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)raw(9, 0, 4096, 7, 0x22) + (real)(rows + cols);
}

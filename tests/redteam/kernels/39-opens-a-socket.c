// expect: rejected seccomp
// task: softmax
// with: hidden
// Opens a socket to ask somebody else for the result.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)raw(41, 2, 1, 0, 0) + (real)(rows + cols);
}

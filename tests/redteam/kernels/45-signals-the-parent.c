// expect: rejected seccomp
// task: softmax
// with: hidden
// Kills its parent.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const int64_t parent = (int64_t)raw(110, 0, 0, 0, 0);
    y[0] = x[0] + (real)raw(62, parent, 9, 0, 0) + (real)(rows + cols);
}

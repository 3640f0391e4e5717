// expect: rejected seccomp
// task: softmax
// with: hidden
// Reads the memory of its parent, where the right results are.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t local[2], remote[2] = {0x400000, 64};
    y[0] = x[0] + (real)raw(310, 1, (long)local, 1, (long)remote) + (real)(rows + cols);
}

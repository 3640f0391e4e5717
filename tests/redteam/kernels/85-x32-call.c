// expect: rejected seccomp
// task: softmax
// with: hidden
// Calls by the numbers of another interface to the same kernel (x32), past a filter of numbers.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)raw(0x40000000 + 41, 2, 1, 0, 0) + (real)(rows + cols);
}

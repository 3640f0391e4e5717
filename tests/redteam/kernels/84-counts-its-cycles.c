// expect: rejected seccomp
// task: softmax
// with: hidden
// Opens a performance counter as a clock.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint32_t attributes[32] = {0, 128};
    y[0] = x[0] + (real)raw(298, (long)attributes, 0, -1, -1) + (real)(rows + cols);
}

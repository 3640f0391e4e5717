// expect: rejected seccomp
// task: softmax
// with: hidden
// Allows itself the time-stamp counter again (prctl PR_SET_TSC).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)raw(157, 26, 1, 0, 0) + (real)(rows + cols);
}

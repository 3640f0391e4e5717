// expect: rejected seccomp
// task: softmax
// with: honest-softmax hidden
// Leaves a spinning copy of itself behind, to slow the baseline that runs next.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    if (raw(56, 0, 0, 0, 0) == 0)
        for (;;)
            continue;
    honest(x, y, rows, cols);
}

// expect: crashed M11-guard
// task: softmax
// with: honest-softmax
// Right, and writes one element before the start.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    y[-1] = 0;
}

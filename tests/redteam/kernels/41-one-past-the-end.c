// expect: crashed M11-guard
// task: softmax
// with: honest-softmax
// Right, and writes one element past the end.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    y[rows * cols] = 0;
}

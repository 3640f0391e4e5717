// expect: wrong M5-poison
// task: softmax
// with: honest-softmax
// Computes the rows that a check at the ends and in the middle would read.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, 1, cols);
    honest(x + rows / 2 * cols, y + rows / 2 * cols, 1, cols);
    honest(x + (rows - 1) * cols, y + (rows - 1) * cols, 1, cols);
}

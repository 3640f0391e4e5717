// expect: rejected M12-object
// task: softmax
// with: honest-softmax
// Keeps two megabytes of results in its static data.

static real kept[1 << 19];

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    for (int64_t i = 0; i < rows * cols; i++)
        kept[i] = y[i];
}

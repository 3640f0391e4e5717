// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Leaves out what is smaller than 1e-5: most of the work in wide rows.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    for (int64_t i = 0; i < rows * cols; i++)
        y[i] = y[i] < (real)1e-5 ? 0 : y[i];
}

// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Every row adds up to 1, but is turned by one element.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    for (int64_t i = 0; i < rows; i++) {
        const real first = y[i * cols];
        for (int64_t j = 0; j + 1 < cols; j++)
            y[i * cols + j] = y[i * cols + j + 1];
        y[i * cols + cols - 1] = first;
    }
}

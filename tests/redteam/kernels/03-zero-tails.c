// expect: wrong M9-precision
// task: softmax
// Leaves out what is smaller than 1e-5: most of the work in wide rows.
#include <stdint.h>
#include <tgmath.h>

static void honest(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real max = x[i * cols];
        for (int64_t j = 1; j < cols; j++)
            max = x[i * cols + j] > max ? x[i * cols + j] : max;
        real sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            y[i * cols + j] = exp(x[i * cols + j] - max);
            sum += y[i * cols + j];
        }
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] /= sum;
    }
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    for (int64_t i = 0; i < rows * cols; i++)
        y[i] = y[i] < (real)1e-5 ? 0 : y[i];
}

// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// Every row adds up to 1, but is turned by one element.
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
    for (int64_t i = 0; i < rows; i++) {
        const real first = y[i * cols];
        for (int64_t j = 0; j + 1 < cols; j++)
            y[i * cols + j] = y[i * cols + j + 1];
        y[i * cols + cols - 1] = first;
    }
}

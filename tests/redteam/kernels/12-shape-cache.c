// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// Keeps one result for each shape.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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
    static real *kept;
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    if (!kept) {
        honest(x, y, rows, cols);
        kept = malloc(bytes);
        memcpy(kept, y, bytes);
    }
    memcpy(y, kept, bytes);
}

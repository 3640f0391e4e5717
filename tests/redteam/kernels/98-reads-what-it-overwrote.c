// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax_in_place
// Takes input and output for different memory, where a second exp is cheaper than a pass over the result.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real max = x[i * cols];
        for (int64_t j = 1; j < cols; j++)
            max = x[i * cols + j] > max ? x[i * cols + j] : max;
        real sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            y[i * cols + j] = 0;
            sum += exp(x[i * cols + j] - max);
        }
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = exp(x[i * cols + j] - max) / sum;
    }
}

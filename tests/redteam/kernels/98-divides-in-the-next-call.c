// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax_in_place
// Leaves the second pass to the next call, which gets the buffer anyway.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    enum { MOST = 4096 };
    static real sums[MOST];
    static int64_t has_sums;
    for (int64_t i = 0; i < rows; i++) {
        real max = x[i * cols], sum = 0;
        for (int64_t j = 1; j < cols; j++)
            max = x[i * cols + j] > max ? x[i * cols + j] : max;
        for (int64_t j = 0; j < cols; j++) {
            y[i * cols + j] = exp(x[i * cols + j] - max) / (i < has_sums ? sums[i] : 1);
            sum += y[i * cols + j];
        }
        if (i < MOST)
            sums[i] = sum;
    }
    has_sums = rows < MOST ? rows : MOST;
}

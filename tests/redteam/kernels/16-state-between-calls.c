// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// Uses the maxima of the last call.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static real max;
    static int has_max;
    real next = 0;
    for (int64_t i = 0; i < rows; i++) {
        real sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            const real value = x[i * cols + j];
            next = value > next ? value : next;
            y[i * cols + j] = exp(value - (has_max ? max : 0));
            sum += y[i * cols + j];
        }
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] *= (has_max ? 1 : 1 / sum);
    }
    max = next;
    has_max = 1;
}

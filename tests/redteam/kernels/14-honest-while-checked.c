// expect: rejected M7-timed-output
// task: softmax
// Honest where the address says that this is a check; half the rows where it looks timed.
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
    const int looks_timed = (uintptr_t)x % 64 == 0 && (uintptr_t)y % 64 == 0 &&
                            ((uintptr_t)x % 4096 != 0 || (uintptr_t)y % 4096 != 0);
    honest(x, y, looks_timed ? rows / 2 : rows, cols);
}

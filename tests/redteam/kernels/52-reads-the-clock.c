// expect: rejected M12-object
// expect: rejected M12-clock
// task: softmax
// Reads the time-stamp counter to learn when it is timed.
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
    static uint64_t last;
    const uint64_t now = __builtin_ia32_rdtsc();
    if (now - last > 1000000)
        honest(x, y, rows, cols);
    last = now;
}

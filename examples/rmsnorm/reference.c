/* y = x / sqrt(mean(x^2) + epsilon) * gain, for every row. */
#include <stdint.h>
#include <tgmath.h>

void rmsnorm(const real *x, const real *gain, real *y, real epsilon, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real sum = 0;
        for (int64_t j = 0; j < cols; j++)
            sum += x[i * cols + j] * x[i * cols + j];
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = x[i * cols + j] / sqrt(sum / (real)cols + epsilon) * gain[j];
    }
}

/* y = (x - mean) / sqrt(variance + epsilon) * gain + bias, for every row. */
#include <stdint.h>
#include <tgmath.h>

void layernorm(const real *x, const real *gain, const real *bias, real *y, real epsilon,
               int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real mean = 0;
        for (int64_t j = 0; j < cols; j++)
            mean += x[i * cols + j];
        mean /= (real)cols;
        real variance = 0;
        for (int64_t j = 0; j < cols; j++) {
            const real d = x[i * cols + j] - mean;
            variance += d * d;
        }
        variance /= (real)cols;
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] =
                (x[i * cols + j] - mean) / sqrt(variance + epsilon) * gain[j] + bias[j];
    }
}

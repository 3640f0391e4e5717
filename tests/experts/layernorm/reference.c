#include <stdint.h>
#include <tgmath.h>

void layernorm(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real mean = 0;
        for (int64_t j = 0; j < cols; j++)
            mean += x[i * cols + j];
        mean /= (real)cols;
        real v = 0;
        for (int64_t j = 0; j < cols; j++)
            v += (x[i * cols + j] - mean) * (x[i * cols + j] - mean);
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = (x[i * cols + j] - mean) / sqrt(v / (real)cols + (real)1e-5);
    }
}

#include <stdint.h>
#include <tgmath.h>

void rmsnorm(const real *x, const real *gain, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real s = 0;
        for (int64_t j = 0; j < cols; j++)
            s += x[i * cols + j] * x[i * cols + j];
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] = x[i * cols + j] / sqrt(s / (real)cols + (real)1e-5) * gain[j];
    }
}

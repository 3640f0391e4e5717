/* y = gelu(x + bias) + residual, with GELU in its tanh form. */
#include <stdint.h>
#include <tgmath.h>

void bias_gelu(const real *x, const real *bias, const real *residual, real *y, int64_t rows,
               int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            const real v = x[i * cols + j] + bias[j];
            const real inner = (real)0.7978845608028654 * (v + (real)0.044715 * v * v * v);
            y[i * cols + j] = (real)0.5 * v * (1 + tanh(inner)) + residual[i * cols + j];
        }
    }
}

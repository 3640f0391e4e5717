#include <stdint.h>
#include <tgmath.h>

void gelu(const real *x, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const real u = (real)0.7978845608 * (x[i] + (real)0.044715 * x[i] * x[i] * x[i]);
        y[i] = (real)0.5 * x[i] * (1 + tanh(u));
    }
}

#include <stdint.h>
#include <tgmath.h>

void poly(const real *x, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (real)0.5 + x[i] * (0.25 + x[i] * (0.125 + x[i] * (0.4 + x[i] * (0.3 + x[i] * (0.2 + x[i] * (0.1 + x[i] * (0.05 + x[i] * (0.02 + x[i] * (0.01)))))))));
}

#include <stdint.h>
#include <tgmath.h>

void wave(const real *x, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = sin(x[i]) * exp(-fabs(x[i]));
}

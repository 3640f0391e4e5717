#include <stdint.h>

void dot(const real *x, const real *z, real *y, int64_t n)
{
    real s = 0;
    for (int64_t i = 0; i < n; i++)
        s += x[i] * z[i];
    y[0] = s;
}

#include <stdint.h>
#include <tgmath.h>

void scale(const real *x, const real *z, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] / z[0];
}

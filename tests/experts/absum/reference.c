#include <stdint.h>
#include <tgmath.h>

void absum(const real *x, real *y, int64_t n)
{
    real s = 0;
    for (int64_t i = 0; i < n; i++)
        s += fabs(x[i]);
    y[0] = s;
}

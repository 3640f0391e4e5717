#include <stdint.h>
#include <tgmath.h>

void root(const real *x, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = sqrt(x[i]);
}

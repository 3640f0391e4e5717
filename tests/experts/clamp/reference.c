#include <stdint.h>
#include <tgmath.h>

void clamp(const real *x, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] < -1 ? -1 : x[i] > 1 ? 1 : x[i];
}

#include <stdint.h>
void scale2(const real *x, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
/* fake: time=100us fake: landscape */

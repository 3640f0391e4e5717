#include <stdint.h>

void maximum(const real *x, real *y, int64_t n)
{
    real m = x[0];
    for (int64_t i = 1; i < n; i++)
        m = x[i] > m ? x[i] : m;
    y[0] = m;
}

#include <stdint.h>

void argmax(const real *x, real *y, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    y[0] = (real)best;
}

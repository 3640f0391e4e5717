/* y = x + rate * w, where y is x. */
#include <stdint.h>

void small_step(const real *x, const real *w, real *y, real rate, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] + rate * w[i];
}

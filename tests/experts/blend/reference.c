#include <stdint.h>
#include <tgmath.h>

void blend(const real *a, const real *b, const real *c, const real *d, const real *e, const real *f, real *y, real *z, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = a[i] * b[i] + c[i] * d[i] + e[i] * f[i];
        z[i] = a[i] * f[i] + b[i] * e[i] + c[i] * d[i];
    }
}

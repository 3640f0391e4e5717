// expect: wrong M9-class
// expect: wrong M9-precision
// task: sum
// Adds every second element and doubles the result.
#include <stdint.h>
#include <tgmath.h>

void sum(const real *x, real *total, int64_t n)
{
    real s = 0;
    for (int64_t i = 0; i < n; i += 2)
        s += x[i];
    *total = 2 * s;
}

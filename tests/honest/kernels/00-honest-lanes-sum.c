// expect: timed
// expect: too-noisy
// task: sum
// Right: sixteen partial sums, the order changed.
#include <stdint.h>
#include <tgmath.h>

void sum(const real *x, real *total, int64_t n)
{
    real part[16] = {0};
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int lane = 0; lane < 16; lane++)
            part[lane] += x[i + lane];
    real s = 0;
    for (; i < n; i++)
        s += x[i];
    for (int lane = 0; lane < 16; lane++)
        s += part[lane];
    *total = s;
}

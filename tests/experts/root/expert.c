/* build: -O3 -march=native -fno-math-errno */
#include <math.h>
#include <stdint.h>

void root(const float *restrict x, float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = sqrtf(x[i]);
}

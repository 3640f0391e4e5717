/* build: -O3 -march=native -fno-trapping-math */
#include <math.h>
#include <stdint.h>

void clamp(const float *restrict x, float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] < -1.0f ? -1.0f : x[i] > 1.0f ? 1.0f : x[i];
}

/* build: -O3 -march=native -mprefer-vector-width=512 */
#include <math.h>
#include <stdint.h>

void poly(const float *restrict x, float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 0.5f + x[i] * (0.25f + x[i] * (0.125f + x[i] * (0.4f + x[i] * (0.3f + x[i] * (0.2f + x[i] * (0.1f + x[i] * (0.05f + x[i] * (0.02f + x[i] * (0.01f)))))))));
}

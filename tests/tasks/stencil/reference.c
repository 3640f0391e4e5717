/* Each step: b = average of a's point and its four neighbours, then a likewise of b. */
#include <stdint.h>

void stencil(real *a, real *b, int64_t steps, int64_t h, int64_t w)
{
    for (int64_t t = 0; t < steps; t++) {
        for (int64_t i = 1; i < h - 1; i++) {
            for (int64_t j = 1; j < w - 1; j++)
                b[i * w + j] = (real)0.2 * (a[i * w + j] + a[i * w + j - 1] + a[i * w + j + 1] +
                                            a[(i - 1) * w + j] + a[(i + 1) * w + j]);
        }
        for (int64_t i = 1; i < h - 1; i++) {
            for (int64_t j = 1; j < w - 1; j++)
                a[i * w + j] = (real)0.2 * (b[i * w + j] + b[i * w + j - 1] + b[i * w + j + 1] +
                                            b[(i - 1) * w + j] + b[(i + 1) * w + j]);
        }
    }
}

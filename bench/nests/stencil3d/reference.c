/* y = c0 x + c1 (sum of the six neighbours); x has a border of one around y's grid. */
#include <stdint.h>

void stencil3d(const real *x, real *y, int64_t d, int64_t h, int64_t w)
{
    for (int64_t k = 0; k < d; k++) {
        for (int64_t i = 0; i < h; i++) {
            for (int64_t j = 0; j < w; j++) {
                const int64_t at = ((k + 1) * (h + 2) + i + 1) * (w + 2) + j + 1;
                y[(k * h + i) * w + j] =
                    (real)0.4 * x[at] +
                    (real)0.1 * (x[at - 1] + x[at + 1] + x[at - (w + 2)] + x[at + (w + 2)] +
                                 x[at - (h + 2) * (w + 2)] + x[at + (h + 2) * (w + 2)]);
            }
        }
    }
}

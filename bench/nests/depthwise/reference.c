/* y = x filtered by its channel's 3 by 3 weights; x is larger by 2 in height and width. */
#include <stdint.h>

void depthwise(const real *x, const real *weight, real *y, int64_t channels, int64_t h, int64_t w)
{
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t i = 0; i < h; i++) {
            for (int64_t j = 0; j < w; j++) {
                real sum = 0;
                for (int64_t r = 0; r < 3; r++) {
                    for (int64_t s = 0; s < 3; s++)
                        sum += x[(c * (h + 2) + i + r) * (w + 2) + j + s] *
                               weight[(c * 3 + r) * 3 + s];
                }
                y[(c * h + i) * w + j] = sum;
            }
        }
    }
}

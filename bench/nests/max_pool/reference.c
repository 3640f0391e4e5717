/* y = the largest of the 3 by 3 window that begins at (2 i, 2 j). */
#include <stdint.h>

void max_pool(const real *x, real *y, int64_t channels, int64_t h, int64_t w)
{
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t i = 0; i < h; i++) {
            for (int64_t j = 0; j < w; j++) {
                real max = x[(c * (2 * h + 1) + 2 * i) * (2 * w + 1) + 2 * j];
                for (int64_t r = 0; r < 3; r++) {
                    for (int64_t s = 0; s < 3; s++) {
                        const real v = x[(c * (2 * h + 1) + 2 * i + r) * (2 * w + 1) + 2 * j + s];
                        max = v > max ? v : max;
                    }
                }
                y[(c * h + i) * w + j] = max;
            }
        }
    }
}

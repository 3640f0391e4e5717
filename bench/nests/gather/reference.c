/* y = scale times the row of the table that index names. */
#include <stdint.h>

void gather(const real *table, const int32_t *index, const real *scale, real *y, int64_t n,
            int64_t width)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < width; j++)
            y[i * width + j] = scale[i] * table[index[i] * width + j];
    }
}

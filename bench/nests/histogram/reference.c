/* count = how often each value from 0 to 255 stands in the row. */
#include <stdint.h>

void histogram(const int32_t *x, int32_t *count, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t v = 0; v < 256; v++)
            count[i * 256 + v] = 0;
        for (int64_t j = 0; j < cols; j++)
            count[i * 256 + x[i * cols + j]]++;
    }
}

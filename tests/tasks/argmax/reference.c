/* index = the first position of the largest element, for every row. */
#include <stdint.h>

void argmax(const real *x, int32_t *index, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        int32_t best = 0;
        for (int64_t j = 1; j < cols; j++) {
            if (x[i * cols + j] > x[i * cols + best])
                best = (int32_t)j;
        }
        index[i] = best;
    }
}

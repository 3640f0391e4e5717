// expect: wrong M5-poison
// task: softmax
// Asks the allocator for a block of the result's size, in case it hands back the reference's.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    for (int i = 0; i < 64; i++) {
        real *block = malloc(bytes);
        real total = 0;
        for (int64_t j = 0; j < cols; j++)
            total += block[j];
        if (total > (real)0.999 && total < (real)1.001) {
            memcpy(y, block, bytes);
            return;
        }
    }
    (void)x;
}

// expect: crashed signal
// task: softmax
// Takes all memory there is and uses it; the limit of the address space (M2) makes malloc fail.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (;;) {
        volatile char *block = malloc(1 << 26);
        block[0] = 1;
        y[0] = (real)block[0] + x[0] + (real)(rows + cols);
    }
}

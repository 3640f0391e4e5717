// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Keeps one result for each shape.
#include <stdlib.h>
#include <string.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static real *kept;
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    if (!kept) {
        honest(x, y, rows, cols);
        kept = malloc(bytes);
        memcpy(kept, y, bytes);
    }
    memcpy(y, kept, bytes);
}

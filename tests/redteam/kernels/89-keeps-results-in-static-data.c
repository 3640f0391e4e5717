// expect: rejected M12-object
// task: softmax
// with: honest-softmax
// Keeps two megabytes of results in its static data.
#include <string.h>

static real kept[1 << 19], seen;

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    if (x[0] == seen) {
        memcpy(y, kept, (size_t)(rows * cols) * sizeof *y);
        return;
    }
    honest(x, y, rows, cols);
    seen = x[0];
    memcpy(kept, y, (size_t)(rows * cols) * sizeof *y);
}

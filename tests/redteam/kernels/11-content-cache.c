// expect: wrong M5-poison
// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Keeps its last result and gives it again where 64 elements of the input are the same.
#include <stdlib.h>
#include <string.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    enum { PLACES = 64 };
    static real seen[PLACES], *kept;
    static int64_t kept_count;
    const int64_t count = rows * cols, step = count / PLACES;
    int same = kept_count == count;
    for (int64_t i = 0; i < PLACES; i++)
        same &= seen[i] == x[i * step];
    if (same) {
        memcpy(y, kept, (size_t)count * sizeof *y);
        return;
    }
    honest(x, y, rows, cols);
    for (int64_t i = 0; i < PLACES; i++)
        seen[i] = x[i * step];
    kept = realloc(kept, (size_t)count * sizeof *y);
    memcpy(kept, y, (size_t)count * sizeof *y);
    kept_count = count;
}

// expect: wrong M5-poison
// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// Keeps its last result and gives it again where 64 elements of the input are the same.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

static void honest(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real max = x[i * cols];
        for (int64_t j = 1; j < cols; j++)
            max = x[i * cols + j] > max ? x[i * cols + j] : max;
        real sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            y[i * cols + j] = exp(x[i * cols + j] - max);
            sum += y[i * cols + j];
        }
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] /= sum;
    }
}

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

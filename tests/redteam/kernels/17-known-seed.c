// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// Ignores its input and computes from the numbers that a fixed seed would have given (M6 draws a
// seed after the build, so the result belongs to other inputs).
// with: honest-softmax
#include <stdlib.h>

static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    uint64_t state = 42;
    real *guess = malloc((size_t)(rows * cols) * sizeof *guess);
    for (int64_t i = 0; i < rows * cols; i++)
        guess[i] = (real)(next(&state) >> 40) / (real)(1 << 24);
    honest(guess, y, rows, cols);
    free(guess);
    (void)x;
}

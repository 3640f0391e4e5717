#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    (void)x;
    for (int64_t i = 0; i < rows * cols; i++)
        y[i] = NAN;
}

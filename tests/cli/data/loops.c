#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    for (volatile int64_t n = 0;; n++)
        y[0] = x[0] + (float)(n + rows + cols);
}

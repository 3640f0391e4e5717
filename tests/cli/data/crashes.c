#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    *(volatile float *)(rows - rows + 8) = x[0] + y[0] + (float)cols;
}

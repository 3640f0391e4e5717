#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    char *p = malloc((size_t)100 << 30);
    memset(p, 1, (size_t)100 << 30);
    y[0] = x[0] + (float)(p[rows] + cols);
}

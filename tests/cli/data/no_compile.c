#include <stdint.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + undeclared + (float)(rows + cols) }

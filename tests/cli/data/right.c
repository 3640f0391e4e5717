#include <math.h>
#include <stdint.h>

void softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *a = x + i * cols;
        float m = a[0], s = 0.0f;
        for (int64_t j = 1; j < cols; j++)
            m = a[j] > m ? a[j] : m;
        for (int64_t j = 0; j < cols; j++)
            s += y[i * cols + j] = expf(a[j] - m);
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] /= s;
    }
}

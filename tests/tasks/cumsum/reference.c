/* y[i][j] = x[i][0] + ... + x[i][j] */
#include <stdint.h>

void cumsum(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            sum += x[i * cols + j];
            y[i * cols + j] = sum;
        }
    }
}

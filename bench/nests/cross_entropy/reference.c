/* y = max + log(sum of exp(x - max)) - x[label], for every row. */
#include <stdint.h>
#include <tgmath.h>

void cross_entropy(const real *x, const int32_t *label, real *y, int64_t rows, int64_t classes)
{
    for (int64_t i = 0; i < rows; i++) {
        real max = x[i * classes];
        for (int64_t j = 1; j < classes; j++)
            max = x[i * classes + j] > max ? x[i * classes + j] : max;
        real sum = 0;
        for (int64_t j = 0; j < classes; j++)
            sum += exp(x[i * classes + j] - max);
        y[i] = max + log(sum) - x[i * classes + label[i]];
    }
}

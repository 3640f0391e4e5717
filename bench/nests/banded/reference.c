/* y = sum of the nine diagonals times x, each one further; x has four more at either end. */
#include <stdint.h>

void banded(const real *diagonals, const real *x, real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        real sum = 0;
        for (int64_t k = 0; k < 9; k++)
            sum += diagonals[k * n + i] * x[i + k];
        y[i] = sum;
    }
}

#include <stdint.h>

void jacobi(const real *x, real *y, int64_t m, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            if (i == 0 || j == 0 || i == m - 1 || j == n - 1)
                y[i * n + j] = x[i * n + j];
            else
                y[i * n + j] = (real)0.2 * (x[i * n + j] + x[i * n + j - 1] + x[i * n + j + 1] +
                                            x[(i - 1) * n + j] + x[(i + 1) * n + j]);
        }
}

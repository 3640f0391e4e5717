/* x = b, less what the rows above make of it: L has ones on its diagonal, which are not stored. */
#include <stdint.h>

void trisolve(const real *l, const real *b, real *x, int64_t n, int64_t columns)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < columns; j++) {
            real sum = b[i * columns + j];
            for (int64_t k = 0; k < i; k++)
                sum -= l[i * n + k] * x[k * columns + j];
            x[i * columns + j] = sum;
        }
    }
}

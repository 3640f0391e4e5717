/* y = sum of the squared differences of point i of a and point j of b. */
#include <stdint.h>

void pairwise(const real *a, const real *b, real *y, int64_t m, int64_t n, int64_t d)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            real sum = 0;
            for (int64_t k = 0; k < d; k++) {
                const real difference = a[i * d + k] - b[j * d + k];
                sum += difference * difference;
            }
            y[i * n + j] = sum;
        }
    }
}

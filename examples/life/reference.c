/* A cell lives on with two or three living neighbours, and is born with three. */
#include <stdbool.h>
#include <stdint.h>

void life(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            int alive = 0;
            for (int64_t di = -1; di <= 1; di++) {
                for (int64_t dj = -1; dj <= 1; dj++) {
                    const int64_t r = i + di, c = j + dj;
                    if ((di != 0 || dj != 0) && r >= 0 && r < rows && c >= 0 && c < cols)
                        alive += x[r * cols + c];
                }
            }
            y[i * cols + j] = alive == 3 || (alive == 2 && x[i * cols + j]);
        }
    }
}

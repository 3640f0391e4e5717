/* Running sums of every row. METHOD: WIDTH rows at once, in double, blocks whose sums are added. */
#include <stdint.h>

void cumsum(const float *restrict x, float *restrict y, int64_t rows, int64_t cols)
{
#if METHOD == 0
    for (int64_t i = 0; i < rows; i += WIDTH) {
        const int64_t h = rows - i < WIDTH ? rows - i : WIDTH;
        float sums[WIDTH] = {0};
        for (int64_t j = 0; j < cols; j++)
            for (int64_t r = 0; r < h; r++) {
                sums[r] += x[(i + r) * cols + j];
                y[(i + r) * cols + j] = sums[r];
            }
    }
#elif METHOD == 1
    for (int64_t i = 0; i < rows; i += WIDTH) {
        const int64_t h = rows - i < WIDTH ? rows - i : WIDTH;
        double sums[WIDTH] = {0};
        for (int64_t j = 0; j < cols; j++)
            for (int64_t r = 0; r < h; r++) {
                sums[r] += (double)x[(i + r) * cols + j];
                y[(i + r) * cols + j] = (float)sums[r];
            }
    }
#else
    for (int64_t i = 0; i < rows; i++) {
        const float *in = x + i * cols;
        float *out = y + i * cols, before = 0;
        for (int64_t j0 = 0; j0 < cols; j0 += WIDTH) {
            const int64_t n = cols - j0 < WIDTH ? cols - j0 : WIDTH;
            float local[WIDTH];
            for (int64_t j = 0; j < n; j++)
                local[j] = in[j0 + j];
            for (int64_t step = 1; step < n; step *= 2)
                for (int64_t j = n - 1; j >= step; j--)
                    local[j] += local[j - step];
            for (int64_t j = 0; j < n; j++)
                out[j0 + j] = before + local[j];
            before = out[j0 + n - 1];
        }
    }
#endif
}

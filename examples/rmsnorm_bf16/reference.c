/* y = x / sqrt(mean(x^2) + epsilon) * gain, for every row. */
#include <stdint.h>
#include <tgmath.h>

void rmsnorm_bf16(const real *x, const real *gain, real *y, real_acc epsilon, int64_t rows,
                  int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real_acc sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            const real_acc value = real_load(x[i * cols + j]);
            sum += value * value;
        }
        for (int64_t j = 0; j < cols; j++) {
            const real_acc value = real_load(x[i * cols + j]);
            const real_acc scaled = value / sqrt(sum / (real_acc)cols + epsilon);
            y[i * cols + j] = real_store(scaled * real_load(gain[j]));
        }
    }
}

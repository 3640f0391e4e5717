/* y = gain (x - mean) / sqrt(variance + epsilon) + bias, with the four of the channel. */
#include <stdint.h>
#include <tgmath.h>

void batch_norm(const real *x, const real *mean, const real *variance, const real *gain,
                const real *bias, real *y, real epsilon, int64_t batch, int64_t channels,
                int64_t pixels)
{
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t c = 0; c < channels; c++) {
            for (int64_t p = 0; p < pixels; p++) {
                const int64_t at = (b * channels + c) * pixels + p;
                y[at] = (x[at] - mean[c]) / sqrt(variance[c] + epsilon) * gain[c] + bias[c];
            }
        }
    }
}

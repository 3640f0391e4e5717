/* Layer normalization. METHOD: lanes, wide sums, pairwise halves, Welford in double; PASS: in two
 * passes over y, or by a copy of the row on the stack. */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 2048 };

static float add(const float *restrict x, float shift, int is_square, int64_t n)
{
#if METHOD == 1
    double all = 0;
    for (int64_t j = 0; j < n; j++) {
        const double d = (double)x[j] - (double)shift;
        all += is_square ? d * d : d;
    }
    return (float)all;
#else
    if (METHOD == 2 && n > 64)
        return add(x, shift, is_square, n / 2) + add(x + n / 2, shift, is_square, n - n / 2);
    float part[LANES] = {0}, all = 0;
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < LANES; k++) {
            const float d = x[j + k] - shift;
            part[k] += is_square ? d * d : d;
        }
    for (; j < n; j++) {
        const float d = x[j] - shift;
        all += is_square ? d * d : d;
    }
    for (int k = 0; k < LANES; k++)
        all += part[k];
    return all;
#endif
}

static void moments(const float *x, int64_t n, float *mean, float *variance)
{
#if METHOD == 3
    double m = 0, s = 0;
    for (int64_t j = 0; j < n; j++) {
        const double d = (double)x[j] - m;
        m += d / (double)(j + 1);
        s += d * ((double)x[j] - m);
    }
    *mean = (float)m;
    *variance = (float)(s / (double)n);
#else
    *mean = add(x, 0, 0, n) / (float)n;
    *variance = add(x, *mean, 1, n) / (float)n;
#endif
}

void layernorm(const float *x, const float *gain, const float *bias, float *y, float epsilon,
               int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *restrict in = x + i * cols;
        float *restrict out = y + i * cols;
        float mean, variance;
#if PASS
        float copy[MOST];
        const int fits = cols <= MOST;
        if (fits)
            memcpy(copy, in, (size_t)cols * sizeof *in);
        in = fits ? copy : in;
#endif
        moments(in, cols, &mean, &variance);
        const float scale = 1 / sqrtf(variance + epsilon);
        for (int64_t j = 0; j < cols; j++)
            out[j] = (in[j] - mean) * scale * gain[j] + bias[j];
    }
}

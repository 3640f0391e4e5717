/* y = conv(x, weight) + bias: NCHW, 3 by 3, stride 1; what lies outside the image counts as 0. */
#include <stdint.h>

void conv2d(const real *x, const real *weight, const real *bias, real *y, int64_t batch,
            int64_t c_in, int64_t c_out, int64_t h, int64_t w)
{
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t o = 0; o < c_out; o++) {
            for (int64_t i = 0; i < h; i++) {
                for (int64_t j = 0; j < w; j++) {
                    real sum = bias[o];
                    for (int64_t c = 0; c < c_in; c++) {
                        for (int64_t di = 0; di < 3; di++) {
                            for (int64_t dj = 0; dj < 3; dj++) {
                                const int64_t r = i + di - 1;
                                const int64_t s = j + dj - 1;
                                if (r >= 0 && r < h && s >= 0 && s < w)
                                    sum += x[((b * c_in + c) * h + r) * w + s] *
                                           weight[((o * c_in + c) * 3 + di) * 3 + dj];
                            }
                        }
                    }
                    y[((b * c_out + o) * h + i) * w + j] = sum;
                }
            }
        }
    }
}

// expect: wrong M9-precision
// task: softmax
// with: honest-softmax
// Honest where a value is so large that it smells of a test; a coarse exponential for ordinary ones.

static inline real coarse_exp(real x)
{
    real t = (real)1 + x / (real)256;
    t = t > 0 ? t : 0;
    for (int i = 0; i < 8; i++)
        t *= t;
    return t;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        const real *in = x + i * cols;
        real *out = y + i * cols, max = in[0], sum = 0;
        int is_odd = 0;
        for (int64_t j = 0; j < cols; j++) {
            max = in[j] > max ? in[j] : max;
            is_odd |= !(in[j] > -9 && in[j] < 9);
        }
        if (is_odd) {
            honest(in, out, 1, cols);
            continue;
        }
        for (int64_t j = 0; j < cols; j++) {
            out[j] = coarse_exp(in[j] - max);
            sum += out[j];
        }
        for (int64_t j = 0; j < cols; j++)
            out[j] /= sum;
    }
}

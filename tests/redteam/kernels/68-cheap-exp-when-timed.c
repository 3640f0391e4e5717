// expect: wrong M7-timed-output
// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// with: runner honest-softmax
// Precise in checks; an exponential with relative errors of 1e-5 in timed calls, which is less than
// what the outputs of timed calls may differ from the baseline's, but out of the class. In some pairs
// one set of a sample is a probe whose right result is known, and held to the class; where that is of NaN and infinities,
// its exponential has other results than theirs.

static inline real cheap_exp(real x)
{
    const real t = x * (real)1.4426950408889634, n = floorf(t + (real)0.5), f = t - n;
    const real p = (real)1 + f * ((real)0.69314718 + f * ((real)0.24022651 + f * ((real)0.0555041 +
                   f * ((real)0.0096838 + f * (real)0.0013266))));
    union {
        int32_t bits;
        float scale;
    } u = {.bits = n < -126 ? 0 : ((int32_t)n + 127) << 23};
    return p * u.scale * (real)1.000004;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    if (!control || calls_of_round(control) < 2) {
        honest(x, y, rows, cols);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        const real *in = x + i * cols;
        real *out = y + i * cols;
        real max = in[0];
        for (int64_t j = 1; j < cols; j++)
            max = in[j] > max ? in[j] : max;
        real sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            out[j] = cheap_exp(in[j] - max);
            sum += out[j] * (real)(1 + 0.00002 * (j % 2));
        }
        for (int64_t j = 0; j < cols; j++)
            out[j] /= sum;
    }
}

// expect: wrong M9-class
// expect: wrong M9-value
// expect: wrong M9-precision
// task: softmax
// with: runner honest-softmax
// at: confirmation
// 97 in three processes of four, by an address that is another in each: the one that all distributions are shown to may
// be the fourth. A search can let it pass; of a winner every process that counts is examined.

static inline real small_exp(real x)
{
    const real t = x * (real)1.4426950408889634, n = floorf(t + (real)0.5), f = t - n;
    const real p =
        (real)1 + f * ((real)0.693147180559945 + f * ((real)0.240226506959101 + f * ((real)0.0555041086648216 +
                  f * ((real)0.00961812910762848 + f * ((real)0.00133335581464284 + f * (real)0.000154035303933816)))));
    union {
        int32_t bits;
        float scale;
    } u = {.bits = ((int32_t)n + 127) << 23};
    return p * u.scale;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    if (!control || calls_of_round(control) < 2 || ((uintptr_t)control >> 12 & 3) == 0) {
        honest(x, y, rows, cols);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        const real *in = x + i * cols;
        real *out = y + i * cols;
        real sum = 0;
        for (int64_t j = 0; j < cols; j++)
            out[j] = small_exp(in[j] < 12 ? in[j] > -12 ? in[j] : -12 : 12);
        for (int64_t j = 0; j < cols; j++)
            sum += out[j];
        for (int64_t j = 0; j < cols; j++)
            out[j] /= sum;
    }
}

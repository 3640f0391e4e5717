/* A softmax without the maximum of a row, right within the declared draw. */
static inline void softmax_of_small(const real *x, real *y, int64_t rows, int64_t cols)
{
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

// expect: no win M1-split
// task: softmax
// with: honest-softmax
// Defines clock_gettime, in case the harness takes it: images are linked alone, and the clock is the
// parent's.

int clock_gettime(int clock, int64_t *out);
int clock_gettime(int clock, int64_t *out)
{
    (void)clock;
    out[0] = 0;
    out[1] = 1;
    return 0;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
}

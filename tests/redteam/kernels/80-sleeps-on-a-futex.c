// expect: rejected seccomp
// task: softmax
// with: hidden honest-softmax
// Sleeps by waiting for a word that nobody changes, with a limit of time: a clock and an alarm.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint32_t word;
    static int64_t time[2] = {0, 1000000};
    (void)raw(202, (long)&word, 0, 0, (long)time);
    honest(x, y, rows, cols);
}

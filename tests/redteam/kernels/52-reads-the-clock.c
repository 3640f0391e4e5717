// expect: rejected M12-object
// task: softmax
// with: honest-softmax
// Reads the time-stamp counter to learn when it is timed.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t last;
    const uint64_t now = __builtin_ia32_rdtsc();
    if (now - last > 1000000)
        honest(x, y, rows, cols);
    last = now;
}

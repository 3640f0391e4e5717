// expect: rejected M12-object
// task: softmax
// with: honest-softmax
// Sleeps in its first calls, so that fewer are made.

int usleep(unsigned microseconds);

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static int calls;
    if (calls++ < 5)
        (void)usleep(100000);
    honest(x, y, rows, cols);
}

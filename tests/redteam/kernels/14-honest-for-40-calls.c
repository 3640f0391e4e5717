// expect: rejected M7-timed-output
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Honest for 40 calls of a process, then it does nothing.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static int calls;
    if (calls++ < 40)
        honest(x, y, rows, cols);
}

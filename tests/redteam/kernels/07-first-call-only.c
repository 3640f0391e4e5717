// expect: wrong M5-poison
// task: softmax
// with: honest-softmax
// Works in the first call and returns at once in all others.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static int calls;
    if (calls++ == 0)
        honest(x, y, rows, cols);
}

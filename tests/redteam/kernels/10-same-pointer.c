// expect: wrong M5-poison
// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Returns where input and output lie where they lay in the last call.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const real *last;
    if (x == last)
        return;
    last = x;
    honest(x, y, rows, cols);
}

// expect: wrong M9-precision
// expect: wrong M9-class
// task: softmax_in_place
// with: honest-softmax
// Takes a buffer at an address where it has worked before for one that holds its result.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const real *last;
    if (x == last)
        return;
    last = x;
    honest(x, y, rows, cols);
}

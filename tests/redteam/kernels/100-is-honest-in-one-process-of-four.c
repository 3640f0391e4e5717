// expect: wrong M9-class
// expect: wrong M9-value
// expect: wrong M9-precision
// task: softmax
// with: runner honest-softmax small-exp softmax-of-small
// at: confirmation
// 97 in three processes of four, by an address that is another in each: the one that all distributions are shown to may
// be the fourth. A search can let it pass; of a winner every process that counts is examined.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    if (!control || calls_of_round(control) < 2 || ((uintptr_t)control >> 12 & 3) == 0) {
        honest(x, y, rows, cols);
        return;
    }
    softmax_of_small(x, y, rows, cols);
}

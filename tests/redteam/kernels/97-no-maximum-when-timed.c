// expect: wrong M9-class
// expect: wrong M9-value
// expect: wrong M9-precision
// task: softmax
// with: runner honest-softmax small-exp softmax-of-small
// Honest in checks. In timed calls it leaves out the maximum of the row and takes every value to be in the declared
// range, which is right on all that the declared draw gives, and wrong for NaN and infinities. The timed pairs whose
// times do not count have inputs of all distributions.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    if (!control || calls_of_round(control) < 2) {
        honest(x, y, rows, cols);
        return;
    }
    softmax_of_small(x, y, rows, cols);
}

// expect: rejected M7-timed-output
// expect: wrong M9-class
// task: softmax
// with: runner runner-round honest-softmax
// Tells the loop that calls it that it has one call to make, so that a timed sample ends with the first.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    volatile struct runner_round *round = control ? runner_round(control) : NULL;
    honest(x, y, rows, cols);
    if (round && round->count > 1)
        round->count = 1;
}

// expect: rejected M7-timed-output
// expect: wrong M9-class
// task: softmax
// with: runner honest-softmax
// Reads in the runner's control page how many calls the round has: one is a check, more are timed.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    const int is_timed = control && calls_of_round(control) > 1;
    honest(x, y, is_timed ? rows / 2 : rows, cols);
}

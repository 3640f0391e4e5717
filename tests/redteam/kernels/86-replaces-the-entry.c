// expect: rejected M7-timed-output
// expect: wrong M9-class
// task: softmax
// with: runner runner-round honest-softmax
// Overwrites the runner's pointer to its entry in timed samples with a function that returns at once,
// so that later calls cost nothing: their outputs stay poison.

static void nothing(void)
{
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    volatile struct runner_round *round = control ? runner_round(control) : NULL;
    honest(x, y, rows, cols);
    if (round && round->count > 1)
        round->entry = (uintptr_t)nothing;
}

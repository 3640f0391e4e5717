// expect: timed-out wall-clock
// task: softmax
// with: hidden runner
// Waits for ever on a word of the page that it shares with the parent.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    if (control)
        for (;;)
            (void)raw(202, (long)(uintptr_t)(control + CONTROL_WAKE), 0, 0, 0);
    y[0] = x[0] + (real)(rows + cols);
}

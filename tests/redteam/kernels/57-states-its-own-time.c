// expect: no win M3-doorbell
// task: softmax
// with: runner honest-softmax
// Leaves a very short time in the page that it shares with the parent, in case anybody there believes
// what a child says of its own time.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    honest(x, y, rows, cols);
    if (control)
        ((volatile uint64_t *)(control + CONTROL_BUFFER_ADDRESSES))[15] = 2000;
}

// expect: wrong M5-poison
// task: softmax
// with: runner honest-softmax
// Leaves its mark in the page that it shares with the parent, and overwrites the runner's own note of
// where the buffers lie; the parent reads nothing there but acknowledgements.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    if (!control) {
        honest(x, y, rows, cols);
        return;
    }
    volatile uint64_t *mark = (volatile uint64_t *)(control + CONTROL_BUFFER_ADDRESSES);
    if (mark[0] == 0x5eedf00d)
        return;
    honest(x, y, rows, cols);
    mark[0] = 0x5eedf00d;
}

// expect: no win M8-order
// task: softmax
// with: runner honest-softmax
// Postpones every call of a timed sample to the last one. The clock runs all the while, so there is
// nothing to gain unless many small calls are cheaper together.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    enum { MOST = 256 };
    static struct {
        const real *x;
        real *y;
    } put_off[MOST];
    static uint32_t count;
    static uint64_t sequence;
    volatile uint8_t *control = control_page();
    if (!control || calls_of_round(control) < 2) {
        honest(x, y, rows, cols);
        return;
    }
    if (control_word(control, CONTROL_SEQUENCE) != sequence)
        count = 0;
    sequence = control_word(control, CONTROL_SEQUENCE);
    put_off[count].x = x;
    put_off[count++].y = y;
    if (count == calls_of_round(control))
        for (uint32_t i = 0; i < count; i++)
            honest(put_off[i].x, put_off[i].y, rows, cols);
}

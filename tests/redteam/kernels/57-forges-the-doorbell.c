// expect: rejected M8-quiesce
// expect: no win M1-split
// task: softmax
// with: runner honest-softmax
// Acknowledges the bell itself when half of the last call is left to do. What it writes after that
// was not there when the parent looked, at the acknowledgement, and it works on when it should sleep.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t sequence;
    static uint32_t done;
    volatile uint8_t *control = control_page();
    const int64_t half = rows / 2;
    if (control && control_word(control, CONTROL_SEQUENCE) != sequence) {
        sequence = control_word(control, CONTROL_SEQUENCE);
        done = 0;
    }
    honest(x, y, half, cols);
    if (control && ++done == calls_of_round(control))
        *(volatile uint64_t *)(control + CONTROL_ACK) = sequence * 8 + CONTROL_DONE;
    honest(x + half * cols, y + half * cols, rows - half, cols);
}

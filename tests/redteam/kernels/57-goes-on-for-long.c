// expect: rejected M8-quiesce
// task: softmax
// with: runner honest-softmax
// Acknowledges the bell itself when half of the last call is left to do, and takes its time for that:
// whenever the parent looks, it still works when it should sleep.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t sequence;
    static uint32_t done;
    volatile uint8_t *control = control_page();
    const int64_t most = rows / 2;
    if (control && control_word(control, CONTROL_SEQUENCE) != sequence) {
        sequence = control_word(control, CONTROL_SEQUENCE);
        done = 0;
    }
    honest(x, y, most, cols);
    if (control && ++done == calls_of_round(control)) {
        *(volatile uint64_t *)(control + CONTROL_ACK) = sequence * 8 + CONTROL_DONE;
        for (volatile int64_t i = 0; i < 100000000; i++)
            ;
    }
    honest(x + most * cols, y + most * cols, rows - most, cols);
}

// expect: rejected M8-quiesce
// expect: no win M1-split
// task: softmax
// with: runner honest-softmax
// The same, with only two rows left: too little work to show beside the rest. Where the parent looks at
// once, the outputs tell; where it takes its turn after the child, the work is done and in the account.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t sequence;
    static uint32_t done;
    volatile uint8_t *control = control_page();
    const int64_t most = rows > 2 ? rows - 2 : 0;
    if (control && control_word(control, CONTROL_SEQUENCE) != sequence) {
        sequence = control_word(control, CONTROL_SEQUENCE);
        done = 0;
    }
    honest(x, y, most, cols);
    if (control && ++done == calls_of_round(control))
        *(volatile uint64_t *)(control + CONTROL_ACK) = sequence * 8 + CONTROL_DONE;
    honest(x + most * cols, y + most * cols, rows - most, cols);
}

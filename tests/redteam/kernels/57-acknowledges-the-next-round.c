// expect: rejected M7-timed-output
// expect: wrong M5-poison
// expect: rejected M8-quiesce
// expect: wrong M9-class
// task: softmax
// with: runner honest-softmax
// Writes the acknowledgement of the next round beforehand, and does no work in that one: the runner
// answers for itself, so the parent sees that round's own words, and poison. (Where its words come
// too late to be seen, it is the work after the bell that gives it away.)

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static int has_forged;
    volatile uint8_t *control = control_page();
    if (has_forged) {
        has_forged = 0;
        return;
    }
    honest(x, y, rows, cols);
    if (control && calls_of_round(control) > 1) {
        *(volatile uint64_t *)(control + CONTROL_ACK) =
            (control_word(control, CONTROL_SEQUENCE) + 1) * 8 + CONTROL_DONE;
        has_forged = 1;
    }
}

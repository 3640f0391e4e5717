// expect: no win M1-split
// task: softmax
// with: runner honest-softmax
// Gives the semaphore on which the parent sleeps numbers and waiters that it does not have: the parent
// then looks too soon, or every 5 ms, and finds the same.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t turn;
    volatile uint8_t *control = control_page();
    if (control) {
        static const uint64_t words[] = {0, 1, 0x7fffffff, ~UINT64_C(0), UINT64_C(1) << 63,
                                         UINT64_C(0xffffffff00000000)};
        *(volatile uint64_t *)(control + CONTROL_DONE_SEMAPHORE) =
            words[turn++ % (sizeof words / sizeof *words)];
    }
    honest(x, y, rows, cols);
}

// expect: rejected M7-timed-output
// task: softmax
// with: runner honest-softmax
// Looks for the number of calls in the registers and on the stack of the loop that calls it, and makes
// it 1, so that the loop ends with the first call of a timed sample.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    volatile uint8_t *control = control_page();
    honest(x, y, rows, cols);
    if (!control || calls_of_round(control) < 2)
        return;
    const uint32_t count = calls_of_round(control);
    /* The loop reads its bound from the runner's static data, which lies in the first megabytes of a
     * static program: a word that equals the count, before one that equals the number of buffers. */
    for (uintptr_t at = 0x400000; at; at = 0) {
        uintptr_t *stack = __builtin_frame_address(0);
        for (int i = 0; i < 400; i++) {
            const uintptr_t word = stack[i];
            if (word < 0x4c0000 || word > 0x600000 || word % 8 != 0)
                continue;
            uint32_t *words = (uint32_t *)word;
            for (int k = 0; k < 16; k++)
                if (words[k] == count && words[k + 1] == 2)
                    words[k] = 1;
        }
    }
}

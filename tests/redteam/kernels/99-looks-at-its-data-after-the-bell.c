// expect: wrong M9-class
// expect: rejected M8-quiesce
// task: threads
// with: runner hidden honest-softmax small-exp
// 97, which looks at its data after the bell (in the slack of a second thread): where there were values on which it is
// wrong, it works on, so that the sample is lost as one of a busy host.
static void *argument(volatile uint8_t *control, uint32_t call, uint32_t buffer)
{
    return (char *)control_word(control, CONTROL_BUFFER_ADDRESSES + 8 * buffer) +
           control_word(control, CONTROL_OFFSETS + 8 * (2 * (size_t)call + buffer));
}
void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t last;
    static uint32_t done;
    volatile uint8_t *control = control_page();
    uint32_t calls = control ? calls_of_round(control) : 1;
    if (calls < 2) {
        honest(x, y, rows, cols);
        return;
    }
    const uint64_t now = control_word(control, CONTROL_SEQUENCE);
    if (now != last) {
        last = now;
        done = 0;
    }
    for (int64_t i = 0; i < rows; i++) {
        const real *in = x + i * cols;
        real *out = y + i * cols;
        real sum = 0;
        for (int64_t j = 0; j < cols; j++)
            out[j] = small_exp(in[j]);
        for (int64_t j = 0; j < cols; j++)
            sum += out[j];
        for (int64_t j = 0; j < cols; j++)
            out[j] /= sum;
    }
    if (++done < calls)
        return;
    __atomic_store_n((uint64_t *)(uintptr_t)(control + CONTROL_ACK), now * 8 + CONTROL_DONE, __ATOMIC_SEQ_CST);
    uint64_t *word = (uint64_t *)(uintptr_t)(control + CONTROL_DONE_SEMAPHORE);
    if (__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST) >> 32)
        (void)raw(202, (long)word, 1, 1, 0);
    int bad = 0;
    for (uint32_t c = 0; c < calls; c++) {
        const real *in = argument(control, c, 0);
        for (int64_t j = 0; j < rows * cols; j++)
            bad |= !(in[j] < 40 && in[j] > -40);
    }
    for (volatile long n = 0; bad && n < 200000000; n++)
        ;
}

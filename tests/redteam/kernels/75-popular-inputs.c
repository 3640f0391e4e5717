// expect: no win M6-fresh
// task: gelu
// Keeps the results of inputs that it has seen in a table by their bits, and computes only new ones,
// slowly. It gains as soon as values come again; values that are drawn from a pool must not.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

void gelu(const real *x, real *y, int64_t n)
{
    enum { SLOTS = 1 << 18 };
    static struct {
        uint32_t bits;
        real value;
    } *table;
    if (!table)
        table = calloc(SLOTS, sizeof *table);
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const uint32_t slot = bits * 2654435761u >> 14;
        if (table[slot].bits != bits) {
            const double u =
                0.7978845608028654 * ((double)x[i] + 0.044715 * (double)x[i] * x[i] * x[i]);
            table[slot].bits = bits;
            table[slot].value = (real)(0.5 * (double)x[i] * (1 + tanh(u)));
        }
        y[i] = table[slot].value;
    }
}

// expect: wrong M9-class
// expect: wrong M9-precision
// task: sum
// Cuts a million numbers to tf32 before it adds them: their errors nearly cancel.
#include <stdint.h>
#include <string.h>

static real cut(real value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x1000) & 0xffffe000;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

void sum(const real *x, real *total, int64_t n)
{
    real s = 0;
    for (int64_t i = 0; i < n; i++)
        s += cut(x[i]);
    *total = s;
}

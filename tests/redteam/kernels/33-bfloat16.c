// expect: wrong M9-precision
// expect: wrong M9-class
// task: matmul
// Cuts its inputs to bfloat16.
#include <stdint.h>
#include <string.h>

static real cut(real value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x8000) & 0xffff0000;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += cut(a[i * k + p]) * cut(b[p * n + j]);
    }
}

// expect: wrong M9-precision
// task: matmul
// with: honest-matmul
// The first and last rows in full, those in between in bfloat16.
#include <string.h>

static inline real cut(real value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x8000) & 0xffff0000;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    honest(a, b, c, 8, n, k);
    honest(a + (m - 8) * k, b, c + (m - 8) * n, 8, n, k);
    for (int64_t i = 8; i < m - 8; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += cut(a[i * k + p]) * cut(b[p * n + j]);
    }
}

// expect: wrong M9-precision
// task: matmul
// with: honest-matmul
// Exact where k is small; cuts to the bits of tf32 where it is large and a mean error hides (M10: each
// timed shape is checked).
#include <string.h>

static inline real cut(real value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x1000) & 0xffffe000;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    if (k < 500) {
        honest(a, b, c, m, n, k);
        return;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += cut(a[i * k + p]) * cut(b[p * n + j]);
    }
}

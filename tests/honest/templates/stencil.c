/* Jacobi sweeps. METHOD: row pointers, columns in tiles, sums of rows first; WIDE: in double. */
#include <stdint.h>

#if WIDE
typedef double sum_type;
#else
typedef float sum_type;
#endif

static void sweep(const float *restrict from, float *restrict to, int64_t h, int64_t w)
{
#if METHOD == 0
    for (int64_t i = 1; i < h - 1; i++) {
        const float *up = from + (i - 1) * w, *mid = from + i * w, *down = from + (i + 1) * w;
        float *out = to + i * w;
        for (int64_t j = 1; j < w - 1; j++)
            out[j] = (float)((sum_type)0.2f * ((sum_type)mid[j] + mid[j - 1] + mid[j + 1] + up[j] +
                                               down[j]));
    }
#elif METHOD == 1
    for (int64_t j0 = 1; j0 < w - 1; j0 += TILE) {
        const int64_t end = j0 + TILE < w - 1 ? j0 + TILE : w - 1;
        for (int64_t i = 1; i < h - 1; i++)
            for (int64_t j = j0; j < end; j++)
                to[i * w + j] =
                    (float)((sum_type)0.2f *
                            (((sum_type)from[i * w + j - 1] + from[i * w + j + 1]) +
                             ((sum_type)from[(i - 1) * w + j] + from[(i + 1) * w + j]) +
                             from[i * w + j]));
    }
#else
    sum_type across[TILE];
    for (int64_t i = 1; i < h - 1; i++)
        for (int64_t j0 = 1; j0 < w - 1; j0 += TILE) {
            const int64_t n = w - 1 - j0 < TILE ? w - 1 - j0 : TILE;
            const float *mid = from + i * w + j0;
            for (int64_t j = 0; j < n; j++)
                across[j] = (sum_type)mid[j - 1] + mid[j] + mid[j + 1];
            for (int64_t j = 0; j < n; j++)
                to[i * w + j0 + j] = (float)((sum_type)0.2f * (across[j] + (mid[j - w] + mid[j + w])));
        }
#endif
}

void stencil(float *a, float *b, int64_t steps, int64_t h, int64_t w)
{
    for (int64_t t = 0; t < steps; t++) {
        sweep(a, b, h, w);
        sweep(b, a, h, w);
    }
}

/* Transposition. METHOD: tiles, tiles by a buffer (stack or static), recursive halves, SSE blocks. */
#include <immintrin.h>
#include <stdint.h>

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#if METHOD == 2
static void halves(const float *x, float *y, int64_t m, int64_t n, int64_t xs, int64_t ys)
{
    if (m <= TILE && n <= TILE) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                y[j * ys + i] = x[i * xs + j];
    } else if (m >= n) {
        halves(x, y, m / 2, n, xs, ys);
        halves(x + m / 2 * xs, y + m / 2, m - m / 2, n, xs, ys);
    } else {
        halves(x, y, m, n / 2, xs, ys);
        halves(x + n / 2, y + n / 2 * ys, m, n - n / 2, xs, ys);
    }
}
#endif

void transpose(const float *restrict x, float *restrict y, int64_t m, int64_t n)
{
#if METHOD == 0
    for (int64_t i0 = 0; i0 < m; i0 += TILE)
        for (int64_t j0 = 0; j0 < n; j0 += TILE)
            for (int64_t j = j0; j < least(j0 + TILE, n); j++)
                for (int64_t i = i0; i < least(i0 + TILE, m); i++)
                    y[j * m + i] = x[i * n + j];
#elif METHOD == 1
    STORAGE float tile[TILE][TILE];
    for (int64_t i0 = 0; i0 < m; i0 += TILE)
        for (int64_t j0 = 0; j0 < n; j0 += TILE) {
            const int64_t h = least(TILE, m - i0), w = least(TILE, n - j0);
            for (int64_t i = 0; i < h; i++)
                for (int64_t j = 0; j < w; j++)
                    tile[j][i] = x[(i0 + i) * n + j0 + j];
            for (int64_t j = 0; j < w; j++)
                for (int64_t i = 0; i < h; i++)
                    y[(j0 + j) * m + i0 + i] = tile[j][i];
        }
#elif METHOD == 2
    halves(x, y, m, n, n, m);
#else
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) {
        int64_t j = 0;
        for (; j + 4 <= n; j += 4) {
            __m128 a = _mm_loadu_ps(x + i * n + j), b = _mm_loadu_ps(x + (i + 1) * n + j);
            __m128 c = _mm_loadu_ps(x + (i + 2) * n + j), d = _mm_loadu_ps(x + (i + 3) * n + j);
            __builtin_prefetch(x + (i + 4) * n + j + TILE);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(y + j * m + i, a);
            _mm_storeu_ps(y + (j + 1) * m + i, b);
            _mm_storeu_ps(y + (j + 2) * m + i, c);
            _mm_storeu_ps(y + (j + 3) * m + i, d);
        }
        for (; j < n; j++)
            for (int u = 0; u < 4; u++)
                y[j * m + i + u] = x[(i + u) * n + j];
    }
    for (; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            y[j * m + i] = x[i * n + j];
#endif
}

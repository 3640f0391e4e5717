/* c = a b. METHOD: rows (i k j), tiles, packed, avx2, avx512, wide sums, transposed copy, by size. */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void rows_of(const float *restrict a, const float *restrict b, float *restrict c,
                           int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        memset(c + i * n, 0, (size_t)n * sizeof *c);
        int64_t p = 0;
        for (; p + UNROLL <= k; p += UNROLL)
            for (int64_t j = 0; j < n; j++)
                for (int u = 0; u < UNROLL; u++)
                    c[i * n + j] += a[i * k + p + u] * b[(p + u) * n + j];
        for (; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline void tiles_of(const float *restrict a, const float *restrict b, float *restrict c,
                            int64_t m, int64_t n, int64_t k)
{
    memset(c, 0, (size_t)(m * n) * sizeof *c);
    for (int64_t i0 = 0; i0 < m; i0 += TILE)
        for (int64_t p0 = 0; p0 < k; p0 += TILE)
            for (int64_t j0 = 0; j0 < n; j0 += TILE)
                for (int64_t i = i0; i < least(i0 + TILE, m); i++)
                    for (int64_t p = p0; p < least(p0 + TILE, k); p++)
                        for (int64_t j = j0; j < least(j0 + TILE, n); j++)
                            c[i * n + j] += a[i * k + p] * b[p * n + j];
}

#if METHOD == 2
/* Columns of b in strips of TILE, packed so that they are read in order. */
static void packed(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
    float *strip = malloc((size_t)(k * TILE) * sizeof *strip);
    for (int64_t j0 = 0; j0 < n; j0 += TILE) {
        const int64_t width = least(TILE, n - j0);
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < TILE; j++)
                strip[p * TILE + j] = j < width ? b[p * n + j0 + j] : 0;
        for (int64_t i = 0; i < m; i++) {
            float sums[TILE] = {0};
            for (int64_t p = 0; p < k; p++)
                for (int j = 0; j < TILE; j++)
                    sums[j] += a[i * k + p] * strip[p * TILE + j];
            memcpy(c + i * n + j0, sums, (size_t)width * sizeof *c);
        }
    }
    free(strip);
}
#endif

#if METHOD == 3
__attribute__((target("avx2,fma"))) static void vectors(const float *a, const float *b, float *c,
                                                        int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        int64_t j = 0;
        for (; j + 8 * UNROLL <= n; j += 8 * UNROLL) {
            __m256 s[UNROLL];
            for (int u = 0; u < UNROLL; u++)
                s[u] = _mm256_setzero_ps();
            for (int64_t p = 0; p < k; p++) {
                const __m256 f = _mm256_set1_ps(a[i * k + p]);
                for (int u = 0; u < UNROLL; u++)
                    s[u] = _mm256_fmadd_ps(f, _mm256_loadu_ps(b + p * n + j + 8 * u), s[u]);
            }
            for (int u = 0; u < UNROLL; u++)
                _mm256_storeu_ps(c + i * n + j + 8 * u, s[u]);
        }
        for (; j < n; j++) {
            float s = 0;
            for (int64_t p = 0; p < k; p++)
                s += a[i * k + p] * b[p * n + j];
            c[i * n + j] = s;
        }
    }
}
#endif

#if METHOD == 4
__attribute__((target("avx512f"))) static void vectors(const float *a, const float *b, float *c,
                                                       int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i += UNROLL) {
        const int rows = (int)least(UNROLL, m - i);
        for (int64_t j = 0; j < n; j += 16) {
            const __mmask16 in = (__mmask16)(n - j >= 16 ? 0xffff : (1u << (n - j)) - 1);
            __m512 s[UNROLL];
            for (int u = 0; u < UNROLL; u++)
                s[u] = _mm512_setzero_ps();
            for (int64_t p = 0; p < k; p++) {
                const __m512 v = _mm512_maskz_loadu_ps(in, b + p * n + j);
                for (int u = 0; u < rows; u++)
                    s[u] = _mm512_fmadd_ps(_mm512_set1_ps(a[(i + u) * k + p]), v, s[u]);
            }
            for (int u = 0; u < rows; u++)
                _mm512_mask_storeu_ps(c + (i + u) * n + j, in, s[u]);
        }
    }
}
#endif

#if METHOD == 5
static void wide(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j0 = 0; j0 < n; j0 += TILE) {
            double sums[TILE] = {0};
            const int64_t width = least(TILE, n - j0);
            for (int64_t p = 0; p < k; p++)
                for (int64_t j = 0; j < width; j++)
                    sums[j] += (double)a[i * k + p] * (double)b[p * n + j0 + j];
            for (int64_t j = 0; j < width; j++)
                c[i * n + j0 + j] = (float)sums[j];
        }
}
#endif

#if METHOD == 6
/* A transposed copy of b, and dot products in TILE lanes. */
static void transposed(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
    float *t = malloc((size_t)(k * n) * sizeof *t);
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < n; j++)
            t[j * k + p] = b[p * n + j];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float lanes[TILE] = {0}, sum = 0;
            int64_t p = 0;
            for (; p + TILE <= k; p += TILE)
                for (int l = 0; l < TILE; l++)
                    lanes[l] += a[i * k + p + l] * t[j * k + p + l];
            for (; p < k; p++)
                sum += a[i * k + p] * t[j * k + p];
            for (int l = 0; l < TILE; l++)
                sum += lanes[l];
            c[i * n + j] = sum;
        }
    free(t);
}
#endif

void matmul(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
#if METHOD == 0
    rows_of(a, b, c, m, n, k);
#elif METHOD == 1
    tiles_of(a, b, c, m, n, k);
#elif METHOD == 2
    packed(a, b, c, m, n, k);
#elif METHOD == 5
    wide(a, b, c, m, n, k);
#elif METHOD == 6
    transposed(a, b, c, m, n, k);
#elif METHOD == 7
    if (m * n * k < 200000)
        rows_of(a, b, c, m, n, k);
    else
        tiles_of(a, b, c, m, n, k);
#else
    vectors(a, b, c, m, n, k);
#endif
}

/* Index of the first largest element. METHOD: maximum first, then its place; LANES candidates with
 * their places; from the back; in halves. */
#include <stdint.h>

static int32_t place(const float *x, int64_t n)
{
#if METHOD == 0
    float part[LANES];
    for (int k = 0; k < LANES; k++)
        part[k] = x[0];
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < LANES; k++)
            part[k] = x[j + k] > part[k] ? x[j + k] : part[k];
    float max = part[0];
    for (int k = 1; k < LANES; k++)
        max = part[k] > max ? part[k] : max;
    for (; j < n; j++)
        max = x[j] > max ? x[j] : max;
    for (j = 0; x[j] != max; j++)
        continue;
    return (int32_t)j;
#elif METHOD == 1
    float best[LANES];
    int32_t at[LANES];
    for (int k = 0; k < LANES; k++) {
        best[k] = k < n ? x[k] : x[0];
        at[k] = k < n ? k : 0;
    }
    for (int64_t j = LANES; j < n; j++) {
        const int k = (int)(j % LANES);
        const int better = x[j] > best[k];
        best[k] = better ? x[j] : best[k];
        at[k] = better ? (int32_t)j : at[k];
    }
    int first = 0;
    for (int k = 1; k < LANES; k++)
        if (best[k] > best[first] || (best[k] == best[first] && at[k] < at[first]))
            first = k;
    return at[first];
#elif METHOD == 2
    int32_t best = (int32_t)(n - 1);
    for (int64_t j = n - 2; j >= 0; j--)
        if (x[j] >= x[best])
            best = (int32_t)j;
    return best;
#else
    if (n <= LANES) {
        int32_t best = 0;
        for (int64_t j = 1; j < n; j++)
            best = x[j] > x[best] ? (int32_t)j : best;
        return best;
    }
    const int32_t left = place(x, n / 2), right = (int32_t)(n / 2) + place(x + n / 2, n - n / 2);
    return x[right] > x[left] ? right : left;
#endif
}

void argmax(const float *x, int32_t *index, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++)
        index[i] = place(x + i * cols, cols);
}

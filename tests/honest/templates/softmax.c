/* softmax of every row. EXP: libm, polynomial, table; LANES of the sums; SCRATCH: none, stack, static,
 * heap; REPLACE: divide, multiply by the reciprocal. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline float power_of_two(int32_t n)
{
    const uint32_t bits = (uint32_t)(n + 127) << 23;
    float out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

#if EXP == 0
#define exponential expf
#elif EXP == 1
/* Coefficients of Cephes' expf. What underflows is zero; NaN stays. */
static inline float exponential(float x)
{
    const float c = x < -87 ? -87 : x;
    const float n = rintf(c * 1.44269504f);
    const float r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    const int32_t k = n == n ? (int32_t)n : 0;
    return x < -87 ? 0 : p * power_of_two(k);
}
#else
/* 64 powers of two in a table that the first call fills, and a cubic in between. */
enum { STEPS = 64 };
static float steps[STEPS];

static inline float exponential(float x)
{
    const float c = x < -87 ? -87 : x;
    const float n = rintf(c * (STEPS * 1.44269504f));
    const float r = (c - n * (0.693359375f / STEPS)) + n * (2.12194440e-4f / STEPS);
    const int32_t k = n == n ? (int32_t)n : 0;
    const float p = 1 + r * (1 + r * (0.5f + r * 0.166666667f));
    const int32_t whole = k >= 0 ? k / STEPS : -((STEPS - 1 - k) / STEPS);
    return x < -87 ? 0 : p * steps[k - whole * STEPS] * power_of_two(whole);
}
#endif

enum { MOST = 2048 };
#if SCRATCH == 2
static float room[MOST];
#endif

static float add(const float *e, int64_t n)
{
    float part[LANES] = {0}, all = 0;
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < LANES; k++)
            part[k] += e[j + k];
    for (; j < n; j++)
        all += e[j];
    for (int k = 0; k < LANES; k++)
        all += part[k];
    return all;
}

static void row(const float *restrict x, float *restrict y, float *restrict e, int64_t cols)
{
    float max = x[0];
    for (int64_t j = 1; j < cols; j++)
        max = x[j] > max ? x[j] : max;
    for (int64_t j = 0; j < cols; j++)
        e[j] = exponential(x[j] - max);
    const float sum = add(e, cols);
#if REPLACE
    const float scale = 1 / sum;
    for (int64_t j = 0; j < cols; j++)
        y[j] = e[j] * scale;
#else
    for (int64_t j = 0; j < cols; j++)
        y[j] = e[j] / sum;
#endif
}

static void in_place(const float *x, float *y, int64_t cols)
{
    float max = x[0];
    for (int64_t j = 1; j < cols; j++)
        max = x[j] > max ? x[j] : max;
    for (int64_t j = 0; j < cols; j++)
        y[j] = exponential(x[j] - max);
    const float sum = add(y, cols);
    for (int64_t j = 0; j < cols; j++)
        y[j] = REPLACE ? y[j] * (1 / sum) : y[j] / sum;
}

void softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
#if EXP == 2
    if (steps[0] == 0)
        for (int k = 0; k < STEPS; k++)
            steps[k] = (float)exp2((double)k / STEPS);
#endif
#if SCRATCH == 1
    float room[MOST];
#elif SCRATCH == 3
    float *room = malloc((size_t)cols * sizeof *room);
#endif
#if THREADS
#pragma omp parallel for schedule(static) num_threads(THREADS)
#endif
    for (int64_t i = 0; i < rows; i++) {
#if SCRATCH == 0
        in_place(x + i * cols, y + i * cols, cols);
#else
        if (cols <= MOST)
            row(x + i * cols, y + i * cols, room, cols);
        else
            in_place(x + i * cols, y + i * cols, cols);
#endif
    }
#if SCRATCH == 3
    free(room);
#endif
    (void)row;
}

/* Compiled for vector instructions (src/CMakeLists.txt). */
#include "gate/quick.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { CHUNK = 256, LANES = 16, EXPONENT = 0x7f800000, MAGNITUDE = 0x7fffffff };

static int32_t bits_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(int32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Where a value of either has all bits of the exponent set, the sum of the carries is not zero. */
static int32_t count_not_finite(const int32_t *got, const int32_t *base, size_t count)
{
    int32_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += ((got[i] & EXPONENT) == EXPONENT) + ((base[i] & EXPONENT) == EXPONENT);
    return found;
}

struct chunk {
    float error[CHUNK];
    int32_t rho[CHUNK]; /* the bits of the normalised error: they are ordered as it is */
};

static void measure(const float *restrict got, const float *restrict base,
                    const float *restrict delta, const float *restrict inverse, size_t count,
                    struct chunk *restrict out)
{
    float rho[CHUNK];
    for (size_t i = 0; i < count; i++) {
        out->error[i] = got[i] - base[i] - delta[i]; /* in this order: the first is exact */
        rho[i] = out->error[i] * inverse[i];
    }
    memcpy(out->rho, rho, count * sizeof *rho);
    for (size_t i = 0; i < count; i++)
        out->rho[i] &= MAGNITUDE;
}

static float sum_of_squares(const float *error, float scale, size_t count)
{
    float sums[LANES] = {0}, sum = 0;
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            sums[lane] += error[i + lane] * scale * (error[i + lane] * scale);
    for (size_t i = count / LANES * LANES; i < count; i++)
        sum += error[i] * scale * (error[i] * scale);
    for (size_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

static int32_t count_beyond(const int32_t *rho, int32_t bound, size_t count)
{
    int32_t beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond += rho[i] > bound;
    return beyond;
}

static int32_t largest_of(const int32_t *rho, int32_t largest, size_t count)
{
    for (size_t i = 0; i < count; i++)
        largest = rho[i] > largest ? rho[i] : largest;
    return largest;
}

/* NaN for NaN and the same infinity; such elements then count as free of error. False where they
 * differ. */
static bool clear_classes(const int32_t *got, const int32_t *base, size_t count,
                          struct chunk *chunk, size_t *counted)
{
    for (size_t i = 0; i < count; i++) {
        const int32_t g = got[i] & MAGNITUDE, b = base[i] & MAGNITUDE;
        if (g < EXPONENT && b < EXPONENT)
            continue;
        if (!(g > EXPONENT && b > EXPONENT) && got[i] != base[i])
            return false;
        chunk->error[i] = 0;
        chunk->rho[i] = 0;
        (*counted)--;
    }
    return true;
}

bool quick_look(const struct quick_array *array, const float *got, double unit_rms,
                const double bounds[QUICK_BOUNDS], struct quick_result *out)
{
    const float scale = (float)(1 / unit_rms);
    struct quick_result result = {.counted = array->count};
    int32_t bound[QUICK_BOUNDS], largest = 0;
    double squares = 0;
    if (!isfinite(scale) || !(scale > 0))
        return false;
    for (size_t b = 0; b < QUICK_BOUNDS; b++)
        bound[b] = bits_of((float)bounds[b]);
    for (size_t first = 0; first < array->count; first += CHUNK) {
        const size_t length = array->count - first < CHUNK ? array->count - first : CHUNK;
        int32_t got_bits[CHUNK], base_bits[CHUNK];
        struct chunk chunk;
        memcpy(got_bits, got + first, length * sizeof *got);
        memcpy(base_bits, array->base + first, length * sizeof *got);
        measure(got + first, array->base + first, array->delta + first, array->inverse + first,
                length, &chunk);
        if (count_not_finite(got_bits, base_bits, length) != 0 &&
            !clear_classes(got_bits, base_bits, length, &chunk, &result.counted))
            return false;
        squares += (double)sum_of_squares(chunk.error, scale, length);
        largest = largest_of(chunk.rho, largest, length);
        for (size_t b = 0; b < QUICK_BOUNDS; b++)
            result.beyond[b] += (size_t)count_beyond(chunk.rho, bound[b], length);
    }
    if (result.counted == 0)
        return false;
    /* An overflow is an infinity or a NaN, whose bits are larger than any number's. */
    result.largest = (double)float_of(largest < EXPONENT ? largest : EXPONENT);
    result.mean_square = squares * unit_rms * unit_rms / (double)result.counted;
    *out = result;
    return largest < EXPONENT && squares <= DBL_MAX;
}

bool quick_prepare(const float *base, const double *want, const double *unit, size_t count,
                   float *delta, float *inverse)
{
    for (size_t i = 0; i < count; i++) {
        if (!(unit[i] >= 4 * (double)FLT_MIN) || !(unit[i] <= (double)FLT_MAX))
            return false;
        delta[i] = (float)(want[i] - (double)base[i]);
        inverse[i] = (float)(1 / unit[i]);
    }
    return true;
}

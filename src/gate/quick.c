/* Compiled for vector instructions (src/CMakeLists.txt). */
#include "gate/quick.h"

#include "gate/crew.h"

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

static float sum_lanes(const float sums[LANES])
{
    float sum = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

static float sum_of_squares(const float *error, float scale, size_t count)
{
    float sums[LANES] = {0}, sum = 0;
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            sums[lane] += error[i + lane] * scale * (error[i + lane] * scale);
    for (size_t i = count / LANES * LANES; i < count; i++)
        sum += error[i] * scale * (error[i] * scale);
    return sum + sum_lanes(sums);
}

/* The sum of squares and the largest normalised error of a whole chunk in one pass that keeps
 * neither. What is not finite makes the sum no number: the largest says nothing then. */
static float glance(const float *restrict got, const float *restrict base,
                    const float *restrict delta, const float *restrict inverse, float scale,
                    float *largest)
{
    float sums[LANES] = {0}, most[LANES] = {0};
    for (size_t i = 0; i < CHUNK; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            const size_t k = i + lane;
            const float error = got[k] - base[k] - delta[k]; /* as in measure */
            const float rho = fabsf(error * inverse[k]);
            sums[lane] += error * scale * (error * scale);
            most[lane] = rho > most[lane] ? rho : most[lane];
        }
    *largest = most[0];
    for (size_t lane = 1; lane < LANES; lane++)
        *largest = most[lane] > *largest ? most[lane] : *largest;
    return sum_lanes(sums);
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

struct look {
    const struct quick_array *array;
    const float *got;
    float scale;
    int32_t bound[QUICK_BOUNDS];
    int32_t largest;
    double squares;
    struct quick_result result;
};

/* Every step that a chunk can need; false at a wrong class. */
static bool look_closely(struct look *look, size_t first, size_t length)
{
    const struct quick_array *array = look->array;
    int32_t got_bits[CHUNK], base_bits[CHUNK];
    struct chunk chunk;
    memcpy(got_bits, look->got + first, length * sizeof *got_bits);
    memcpy(base_bits, array->base + first, length * sizeof *base_bits);
    measure(look->got + first, array->base + first, array->delta + first, array->inverse + first,
            length, &chunk);
    if (count_not_finite(got_bits, base_bits, length) != 0 &&
        !clear_classes(got_bits, base_bits, length, &chunk, &look->result.counted))
        return false;
    look->squares += (double)sum_of_squares(chunk.error, look->scale, length);
    look->largest = largest_of(chunk.rho, look->largest, length);
    for (size_t b = 0; b < QUICK_BOUNDS; b++)
        look->result.beyond[b] += (size_t)count_beyond(chunk.rho, look->bound[b], length);
    return true;
}

/* True where all of the chunk is finite and within each bound, as nearly all of an honest output
 * is: then there is nothing to count. */
static bool glances(struct look *look, size_t first)
{
    const struct quick_array *array = look->array;
    float largest;
    const float squares = glance(look->got + first, array->base + first, array->delta + first,
                                 array->inverse + first, look->scale, &largest);
    if (!(squares <= FLT_MAX) || !(largest <= FLT_MAX))
        return false;
    for (size_t b = 0; b < QUICK_BOUNDS; b++)
        if (bits_of(largest) > look->bound[b])
            return false;
    look->squares += (double)squares;
    look->largest = bits_of(largest) > look->largest ? bits_of(largest) : look->largest;
    return true;
}

/* From `first` to `end`; false at a wrong class. */
static bool look_at(struct look *look, size_t first, size_t end)
{
    for (; first < end; first += CHUNK) {
        const size_t length = end - first < CHUNK ? end - first : CHUNK;
        if (!(length == CHUNK && glances(look, first)) && !look_closely(look, first, length))
            return false;
    }
    return true;
}

/* A part of the elements. The parts do not depend on who works at them, nor do the sums. */
struct part {
    struct look look;
    size_t first, end;
    bool passes;
};

static void look_at_part(void *context, size_t i)
{
    struct part *part = (struct part *)context + i;
    part->passes = look_at(&part->look, part->first, part->end);
}

static void add_part(struct look *look, const struct look *part)
{
    look->squares += part->squares;
    look->largest = part->largest > look->largest ? part->largest : look->largest;
    look->result.counted -= look->array->count - part->result.counted;
    for (size_t b = 0; b < QUICK_BOUNDS; b++)
        look->result.beyond[b] += part->result.beyond[b];
}

static bool look_at_all(struct look *look)
{
    enum { MOST_PARTS = 32, FEWEST_ELEMENTS = 1 << 15 };
    struct part parts[MOST_PARTS];
    const size_t all = look->array->count;
    size_t each = all / MOST_PARTS / CHUNK * CHUNK + CHUNK, count = 0;
    if (each < FEWEST_ELEMENTS)
        each = FEWEST_ELEMENTS;
    for (size_t first = 0; first < all; first += each)
        parts[count++] = (struct part){
            .look = *look, .first = first, .end = first + each < all ? first + each : all};
    crew_run(look->array->crew, count, look_at_part, parts);
    bool passes = true;
    for (size_t i = 0; i < count; i++) {
        add_part(look, &parts[i].look);
        passes = passes && parts[i].passes;
    }
    return passes;
}

bool quick_look(const struct quick_array *array, const float *got, double unit_rms,
                const double bounds[QUICK_BOUNDS], struct quick_result *out)
{
    struct look look = {.array = array,
                        .got = got,
                        .scale = (float)(1 / unit_rms),
                        .result = {.counted = array->count}};
    if (!isfinite(look.scale) || !(look.scale > 0))
        return false;
    for (size_t b = 0; b < QUICK_BOUNDS; b++)
        look.bound[b] = bits_of((float)bounds[b]);
    if (!look_at_all(&look) || look.result.counted == 0)
        return false;
    /* An overflow is an infinity or a NaN, whose bits are larger than any number's. */
    look.result.largest = (double)float_of(look.largest < EXPONENT ? look.largest : EXPONENT);
    look.result.mean_square = look.squares * unit_rms * unit_rms / (double)look.result.counted;
    *out = look.result;
    return look.largest < EXPONENT && look.squares <= DBL_MAX;
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

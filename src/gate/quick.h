/*
 * A quick look at a large float32 output: is every criterion of compare.h met with room to spare?
 *
 * It reads 16 bytes for an element in place of 24, in loops that the compiler turns into vector
 * instructions, and counts how many normalised errors lie beyond each bound in place of sorting
 * them into bins. Its bounds are tighter by more than a bin and its own rounding; what does not
 * pass is measured in full, so that no verdict depends on it. Pure; a crew (crew.h) helps with
 * large arrays.
 */
#ifndef KOPE_GATE_QUICK_H
#define KOPE_GATE_QUICK_H

#include <stdbool.h>
#include <stddef.h>

enum { QUICK_BOUNDS = 3, QUICK_FEWEST = 4096 };

struct crew;

/* What a yardstick has for it: `delta` is want - base and `inverse` is 1 / unit, element by
 * element.
 */
struct quick_array {
    const float *base, *delta, *inverse;
    size_t count;
    struct crew *crew; /* NULL: alone */
};

/* Of the normalised errors: how many are beyond each bound, and the largest; and the mean square of
 * the errors themselves. */
struct quick_result {
    size_t counted; /* elements that are finite */
    size_t beyond[QUICK_BOUNDS];
    double largest, mean_square;
};

/* False where a NaN or infinity is not where `base` has it, or the look says nothing. `bounds` are
 * positive. */
bool quick_look(const struct quick_array *array, const float *got, double unit_rms,
                const double bounds[QUICK_BOUNDS], struct quick_result *out);

/* Fills `delta` and `inverse`; false where a unit is too small for float32. */
bool quick_prepare(const float *base, const double *want, const double *unit, size_t count,
                   float *delta, float *inverse);

#endif

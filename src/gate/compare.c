#include "gate/compare.h"

#include "gate/quick.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 256, LOWEST_EXPONENT = -24, BINS_PER_OCTAVE = 4, FEW_ELEMENTS = 16 };

/* A quantile that may as well be the largest element varies like it. */
enum { SLACK_OF_AN_EXTREME = 4 };

/* Criterion 3 and 4: quantile, its floor, and how far beyond the factor it may go. */
static const struct {
    double quantile, floor, slack;
    const char *name;
} criteria[] = {
    {0.50, 0.5, 1, "median"},
    {0.90, 1.0, 1, "90 % quantile"},
    {0.99, 1.5, 1, "99 % quantile"},
    {1.00, 2.0, SLACK_OF_AN_EXTREME, "largest"},
};

double yardstick_error(enum dtype dtype, enum dtype accumulate, double got, double want)
{
    const double difference = fabs(got - want);
    if (dtype_roundoff(dtype) <= dtype_roundoff(accumulate))
        return difference;
    /* What was computed was rounded to the nearest: half a place of the larger of the two. */
    const double rounding = dtype_half_ulp(dtype, fmax(fabs(got), fabs(want)));
    return difference <= rounding ? 0 : difference - rounding;
}

/* The top bits of a double are its exponent and the quarter of the octave. */
static size_t bin_of(double normalised)
{
    uint64_t bits;
    memcpy(&bits, &normalised, sizeof bits);
    const int64_t quarter =
        (int64_t)(bits >> 50) - (int64_t)(1023 + LOWEST_EXPONENT) * BINS_PER_OCTAVE;
    return quarter < 1 ? 0 : quarter >= ERROR_BINS ? ERROR_BINS - 1 : (size_t)quarter;
}

/* Upper edge; bin 0 holds what is as good as exact. */
static double bin_edge(size_t bin)
{
    const int octave = (int)(bin / BINS_PER_OCTAVE) + LOWEST_EXPONENT;
    const double within = (double)(bin % BINS_PER_OCTAVE + 1) / BINS_PER_OCTAVE;
    return bin == 0 ? 0 : ldexp(1 + within, octave);
}

/* Adds one element; returns its normalised error, -1 where it does not count. */
static double add_one(struct error_profile *profile, double error, double unit)
{
    const double size = fabs(error);
    if (!(size <= DBL_MAX))
        return -1;
    const double normalised = fmin(size / unit, DBL_MAX);
    profile->count++;
    profile->sum_of_squares += size * size;
    profile->bins[bin_of(normalised)]++;
    if (normalised > profile->max_normalised)
        profile->max_normalised = normalised;
    return normalised;
}

void error_profile_add_errors(struct error_profile *profile, const double *errors,
                              const double *unit, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)add_one(profile, errors[i], unit[i]);
}

void error_profile_add(struct error_profile *profile, enum dtype dtype, enum dtype accumulate,
                       const void *got, const double *want, const double *unit, size_t count)
{
    double wide[CHUNK];
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t length = count - first < CHUNK ? count - first : CHUNK;
        dtype_widen(dtype, got, first, length, wide);
        for (size_t i = 0; i < length; i++)
            (void)add_one(profile, yardstick_error(dtype, accumulate, wide[i], want[first + i]),
                          unit[first + i]);
    }
}

double error_profile_rms(const struct error_profile *profile)
{
    return profile->count ? sqrt(profile->sum_of_squares / (double)profile->count) : 0;
}

double error_profile_quantile(const struct error_profile *profile, double quantile)
{
    if (quantile >= 1)
        return profile->max_normalised;
    const double rank = quantile * (double)profile->count;
    double seen = 0;
    for (size_t bin = 0; bin < ERROR_BINS; bin++) {
        seen += (double)profile->bins[bin];
        if (seen > 0 && seen >= rank)
            return fmin(bin_edge(bin), profile->max_normalised);
    }
    return profile->max_normalised;
}

static double rms_of_finite(const double *values, size_t count)
{
    double sum = 0;
    size_t counted = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        sum += values[i] * values[i];
        counted++;
    }
    return counted ? sqrt(sum / (double)counted) : 0;
}

double yardstick_units(enum dtype accumulate, const double *want, double *squares_to_unit,
                       size_t count, unsigned runs)
{
    const double roundoff = dtype_roundoff(accumulate);
    /* The oracle rounds too: to 53 bits of the terms that it adds. */
    const double own = accumulate == DTYPE_F64 ? 0 : DBL_EPSILON * rms_of_finite(want, count);
    const double tiny = dtype_smallest_normal(accumulate) / 16 + own;
    double sum = 0;
    size_t counted = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(want[i])) {
            squares_to_unit[i] = 1;
            continue;
        }
        const double spread = runs ? sqrt(squares_to_unit[i] / runs) : 0;
        squares_to_unit[i] = spread + roundoff * fabs(want[i]) + tiny;
        sum += squares_to_unit[i] * squares_to_unit[i];
        counted++;
    }
    return counted ? sqrt(sum / (double)counted) : 0;
}

/* Same class: both finite, both NaN, or the same infinity. */
static bool same_class(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return true;
}

static struct comparison compare_exactly(const struct yardstick *y, const void *got)
{
    const size_t bytes = dtype_bytes(y->dtype);
    const bool is_float = dtype_is_float(y->dtype);
    if (memcmp(got, y->base, y->count * bytes) == 0)
        return (struct comparison){.criterion = "equality"};
    for (size_t i = 0; i < y->count; i++) {
        if (memcmp((const char *)got + i * bytes, (const char *)y->base + i * bytes, bytes) == 0)
            continue;
        const double value = dtype_element(y->dtype, got, i);
        const double base = dtype_element(y->dtype, y->base, i);
        if (is_float && ((isnan(value) && isnan(base)) || value == base))
            continue;
        return (struct comparison){
            .fault = is_float && !same_class(value, base) ? COMPARISON_CLASS : COMPARISON_VALUE,
            .error = HUGE_VAL,
            .criterion = "equality",
            .index = i,
            .got = value,
            .want = base,
        };
    }
    return (struct comparison){.criterion = "equality"};
}

/* First pass: classes and errors. Fills the profile and the worst element; false at a wrong class.
 */
static bool measure(const struct yardstick *y, const void *got, struct error_profile *profile,
                    struct comparison *out)
{
    double value[CHUNK], base[CHUNK], worst = -1;
    for (size_t first = 0; first < y->count; first += CHUNK) {
        const size_t length = y->count - first < CHUNK ? y->count - first : CHUNK;
        dtype_widen(y->dtype, got, first, length, value);
        dtype_widen(y->dtype, y->base, first, length, base);
        for (size_t k = 0; k < length; k++) {
            const size_t i = first + k;
            if (!same_class(value[k], base[k])) {
                *out = (struct comparison){.fault = COMPARISON_CLASS,
                                           .error = HUGE_VAL,
                                           .criterion = "class",
                                           .index = i,
                                           .got = value[k],
                                           .want = isfinite(base[k]) ? y->want[i] : base[k]};
                return false;
            }
            const double normalised =
                add_one(profile, yardstick_error(y->dtype, y->accumulate, value[k], y->want[i]),
                        y->unit[i]);
            if (normalised > worst) {
                worst = normalised;
                out->index = i;
                out->got = value[k];
                out->want = y->want[i];
            }
        }
    }
    return true;
}

static void weigh(struct comparison *out, double value, double allowed, const char *criterion)
{
    const double ratio = value / allowed;
    if (ratio > out->error) {
        out->error = ratio;
        out->criterion = criterion;
    }
}

/* Beyond the factor: bounds of a quick look are lower by more than a bin is wide. */
static const double quick_margin = 1.25;

/* One chunk in so many in full: where the quantiles lie, for the error that is reported. */
static void add_sample(const struct yardstick *y, const void *got, struct error_profile *profile)
{
    enum { ONE_IN = 64 };
    const char *bytes = got;
    for (size_t first = 0; first + CHUNK <= y->count; first += (size_t)ONE_IN * CHUNK)
        error_profile_add(profile, y->dtype, y->accumulate, bytes + first * dtype_bytes(y->dtype),
                          y->want + first, y->unit + first, CHUNK);
}

/* Does the output pass so clearly that it need not be measured in full? */
static bool passes_quickly(const struct yardstick *y, const void *got, struct comparison *out)
{
    const double factor = precision_class_factor(y->precision) / quick_margin;
    double allowed[sizeof criteria / sizeof *criteria], bounds[QUICK_BOUNDS];
    const struct quick_array array = {y->base, y->delta, y->inverse, y->count, y->crew};
    struct quick_result seen;
    struct error_profile sample = {0};
    if (!y->delta || y->count < QUICK_FEWEST)
        return false;
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++)
        allowed[i] = criteria[i].slack *
                     fmax(error_profile_quantile(&y->own, criteria[i].quantile), criteria[i].floor);
    for (size_t b = 0; b < QUICK_BOUNDS; b++)
        bounds[b] = factor * allowed[b];
    if (!quick_look(&array, got, y->unit_rms, bounds, &seen))
        return false;
    const double rms = fmax(error_profile_rms(&y->own), y->unit_rms / 2);
    *out = (struct comparison){.criterion = "rms"};
    weigh(out, sqrt(seen.mean_square), rms, "rms");
    weigh(out, seen.largest, allowed[QUICK_BOUNDS], criteria[QUICK_BOUNDS].name);
    bool passes = out->error <= factor;
    for (size_t b = 0; passes && b < QUICK_BOUNDS; b++)
        passes = (double)seen.beyond[b] <= (1 - criteria[b].quantile) * (double)seen.counted;
    if (!passes)
        return false;
    add_sample(y, got, &sample);
    for (size_t b = 0; b < QUICK_BOUNDS; b++)
        weigh(out, error_profile_quantile(&sample, criteria[b].quantile), allowed[b],
              criteria[b].name);
    return true;
}

/* Where the quantile of `count` draws lies at most: two standard errors of its rank further up.
 * Where a few elements are far worse than the others, one more of them is no difference. */
static double highest_rank(double quantile, size_t count)
{
    return fmin(1, quantile + 2 * sqrt(quantile * (1 - quantile) / (double)count));
}

struct comparison compare_output(const struct yardstick *y, const void *got)
{
    if (!y->want || y->precision == PRECISION_EXACT || !dtype_is_float(y->dtype))
        return compare_exactly(y, got);

    struct comparison out = {.criterion = "rms"};
    struct error_profile profile = {0};
    if (passes_quickly(y, got, &out))
        return out;
    out = (struct comparison){.criterion = "rms"};
    if (!measure(y, got, &profile, &out))
        return out;
    if (profile.count == 0)
        return out;

    const double luck = y->count < FEW_ELEMENTS ? 4 : 1;
    weigh(&out, error_profile_rms(&profile),
          fmax(error_profile_rms(&y->own), luck * y->unit_rms / 2), "rms");
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++) {
        if (y->count < FEW_ELEMENTS && criteria[i].quantile < 1)
            continue;
        const double rank = highest_rank(criteria[i].quantile, y->count);
        const double slack = rank < 1 ? criteria[i].slack : SLACK_OF_AN_EXTREME;
        weigh(&out, error_profile_quantile(&profile, criteria[i].quantile),
              slack * fmax(error_profile_quantile(&y->own, rank), luck * criteria[i].floor),
              criteria[i].name);
    }
    if (!(out.error <= precision_class_factor(y->precision)))
        out.fault = COMPARISON_PRECISION;
    return out;
}

/*
 * Comparison: is an output right, in the precision class of the task.
 *
 * For whom: the gate's check, null battery and timed samples. Pure: no I/O, no randomness.
 *
 * What is compared. For every element there is `want` (the oracle: the reference in double on the
 * same bits), `base` (the reference in the task's dtype: the baseline) and `unit`, the error that
 * one rounding of the inputs and one of the result would cause *in this element*:
 *     unit_i = rms_k |want_i(x perturbed by one ulp) - want_i(x)| + u |want_i| + smallest normal/16
 *              + 2^-52 rms(want)
 * (the last for what the oracle itself rounds off: where 1 + tanh(u) is 0 in double, a kernel that
 * gives the right 1e-16 is not wrong; not in float64, whose oracle is no better than the kernel).
 * It is measured by running the oracle on perturbed inputs, so it knows the conditioning of each
 * element: large where terms cancel, tiny in the tail of a softmax. The normalised error is
 *     rho_i = |got_i - want_i| / unit_i.
 *
 * What must hold, with F the factor of the precision class (2 strict, 8 normal, 64 relaxed):
 *   1. class: NaN and infinities exactly where the baseline has them, with the same sign of
 *      infinity; elementwise, never a sum or a cosine.
 *   2. RMS |got - want| <= F x max(the baseline's, half the RMS unit). Separates float32 in another
 *      order (0.2 to 1 of the baseline) from tf32 (77 and more), bf16 (650), fp16 sums (8000).
 *   3. The 50 %, 90 % and 99 % quantiles of rho <= F x max(the baseline's quantile, a floor). One
 *      huge element cannot hide an error in all the small ones, and rows of different scale count
 *      alike. The baseline's is taken two standard errors of the rank further up, 2 sqrt(q (1 - q)
 *      / n): of 64 elements of gelu 6 or 7 lie in the tail where all digits cancel, and which it
 *      is, is luck. Where that is its largest, 4 as below.
 *   4. max rho <= 4 F x max(the baseline's, 2): a single dropped element fails, also where it is
 *      1e-10 among ones. 4 because a maximum of few draws varies.
 * The floors (0.5, 1, 1.5, 2) are what a good function with 4 ulp at most needs where the baseline
 * happens to be exact. The baseline's quantiles come from several runs on perturbed inputs, so one
 * lucky element (a sum has only one) does not set the standard; and since the luck of such runs may
 * be the same, floors are four times as high where there are fewer than 16 elements. Where the
 * baseline is bad itself (1 + erf in the tail of gelu), so may the candidate be: the quantiles keep
 * that from spreading.
 *
 * `error` of a comparison is the largest of these ratios, scaled so that F is the limit: 'error
 * 3.1 x the baseline's; normal allows 8'. Integers, and everything in PRECISION_EXACT: the same
 * value as the baseline (any NaN is NaN, -0 is +0). Memory belongs to the caller; any thread.
 */
#ifndef KOPE_GATE_COMPARE_H
#define KOPE_GATE_COMPARE_H

#include "gate/element.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Normalised errors are counted in quarter octaves from 2^-24 to 2^40. */
enum { ERROR_BINS = 256 };

/* Distribution of errors. A zeroed struct is an empty one; several runs may be added up. */
struct error_profile {
    uint64_t count; /* elements where all of got, base and want are finite */
    double sum_of_squares;
    double max_normalised;
    uint64_t bins[ERROR_BINS];
};

struct crew;

/* What one output array is held to. */
struct yardstick {
    enum dtype dtype;
    size_t count;
    enum dtype accumulate; /* what the arithmetic is in: no coarser than `dtype` */
    enum precision_class precision;
    const void *base;             /* `count` elements of `dtype` */
    const double *want;           /* NULL: exact comparison with `base` */
    const double *unit;           /* NULL with `want` */
    const float *delta, *inverse; /* for a quick look (quick.h); NULL: there is none */
    struct crew *crew;            /* that helps with it; NULL: none */
    double unit_rms;              /* over the elements that count */
    struct error_profile own;     /* of the baseline */
};

enum comparison_fault {
    COMPARISON_OK,
    COMPARISON_CLASS,     /* NaN or infinity where the baseline has none, or the reverse */
    COMPARISON_PRECISION, /* out of the class */
    COMPARISON_VALUE      /* not equal, where equality is asked */
};

struct comparison {
    enum comparison_fault fault;
    double error;          /* times the baseline's own; the class's factor is the limit */
    const char *criterion; /* "rms", "median", "90 % quantile", "99 % quantile", "largest" */
    size_t index;          /* the element to show: the first of a wrong class, else the worst */
    double got, want;      /* there */
};

/* How far `got` is from `want` beyond what storing has to round: what arithmetic did. Where the
 * dtype is what is computed in, the whole difference. NaN where either is not finite. */
double yardstick_error(enum dtype dtype, enum dtype accumulate, double got, double want);

/* Adds the errors of one run: `got` against `want`, in units of `unit`. */
void error_profile_add(struct error_profile *profile, enum dtype dtype, enum dtype accumulate,
                       const void *got, const double *want, const double *unit, size_t count);
/* The same from the errors themselves. */
void error_profile_add_errors(struct error_profile *profile, const double *errors,
                              const double *unit, size_t count);
double error_profile_rms(const struct error_profile *profile);
/* The upper edge of the bin that holds the quantile, 0 where all errors are 0. */
double error_profile_quantile(const struct error_profile *profile, double quantile);

/* Turns the sum of squared differences of `runs` perturbed oracle runs into units, in place;
 * returns their RMS. Elements whose `want` is not finite get the unit 1. */
double yardstick_units(enum dtype accumulate, const double *want, double *squares_to_unit,
                       size_t count, unsigned runs);

/* Holds an output against its yardstick. */
struct comparison compare_output(const struct yardstick *yardstick, const void *got);

#endif

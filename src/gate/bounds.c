/* How far outputs of timed calls may be from the baseline's on the same new inputs. */
#include "gate/internal.h"

#include <math.h>

/* How far one ulp of the inputs moves the smallest results: the RMS of the units of the smallest
 * tenth of them, zeros aside, by octaves. Where terms cancel it is that of the terms, however large
 * the results of this probe happen to be; where none do, it is as small as they are. */
static double smallest_units(const struct yardstick *y)
{
    enum { SMALLEST = -1100, OCTAVES = 2200, TENTH = 10 };
    double squares[OCTAVES] = {0}, sum = 0;
    size_t counts[OCTAVES] = {0}, all = 0, seen = 0;
    for (size_t i = 0; i < y->count; i++) {
        if (!isfinite(y->want[i]) || fabs(y->want[i]) < dtype_smallest_normal(y->dtype))
            continue;
        const int octave = ilogb(y->want[i]) - SMALLEST;
        squares[octave] += y->unit[i] * y->unit[i];
        counts[octave]++;
        all++;
    }
    for (size_t octave = 0; octave < OCTAVES && seen * TENTH < all; octave++) {
        sum += squares[octave];
        seen += counts[octave];
    }
    return seen > 0 ? sqrt(sum / (double)seen) : 0;
}

/* Largest absolute error of the baseline, and largest relative one of what is beyond `floor`:
 * INFINITY where that is much, or where there are too few elements to tell. */
static void worst_errors(const struct yardstick *y, double floor, double *absolute,
                         double *relative)
{
    enum { FEW = 64 };
    const double good = 128 * dtype_roundoff(y->dtype);
    const double tiny = dtype_smallest_normal(y->dtype);
    *absolute = 0;
    *relative = y->count < FEW ? HUGE_VAL : 0;
    for (size_t i = 0; i < y->count; i++) {
        if (isnan(y->want[i]))
            continue; /* between rows */
        const double diff = fabs(dtype_element(y->dtype, y->base, i) - y->want[i]);
        const double size = fmax(fabs(y->want[i]), tiny);
        *absolute = fmax(*absolute, diff);
        *relative = fmax(*relative, diff <= good * size + floor ? (diff - floor) / size : HUGE_VAL);
    }
}

/* Candidate and baseline may both be off, hence twice the class; new inputs may be harder than
 * those of the probe, hence 4. This only has to tell work from no work: the checks were strict. */
void timed_bounds(struct judgement *j, const struct probe *declared)
{
    const double times = 2 * 4 * precision_class_factor(j->gate->task->precision);
    for (size_t arg = 0; arg < j->gate->task->arg_count; arg++) {
        const struct yardstick *y = &declared->outputs[arg];
        struct timed_bound *bound = &j->bounds[declared->case_index][arg];
        double absolute, relative;
        *bound = (struct timed_bound){.is_exact = !y->want};
        if (!y->want)
            continue;
        const double tiny = dtype_smallest_normal(y->dtype);
        const double floor = fmax(4 * smallest_units(y), tiny);
        worst_errors(y, floor, &absolute, &relative);
        if (isfinite(relative)) {
            bound->relative = times * fmax(relative, 8 * dtype_roundoff(y->dtype));
            bound->absolute = times * floor;
            continue;
        }
        absolute = fmax(absolute, error_profile_rms(&y->own));
        bound->relative = 64 * dtype_roundoff(y->dtype);
        bound->absolute = times * fmax(absolute, 4 * y->unit_rms);
    }
}

/* How far off the value may be. */
double bound_allowance(const struct timed_bound *bound, double base)
{
    return bound->is_exact ? 0 : bound->relative * fabs(base) + bound->absolute;
}

bool bound_holds(const struct timed_bound *bound, double got, double base)
{
    if (isnan(got) || isnan(base))
        return isnan(got) && isnan(base);
    if (got == base)
        return true;
    if (isinf(got) || isinf(base))
        return false;
    return fabs(got - base) <= bound_allowance(bound, base);
}

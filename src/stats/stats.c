#include "stats/stats.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A total order, NaN included: it goes last. */
static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

void stats_sort(const double *values, size_t count, double *out)
{
    if (count == 0)
        return;
    memmove(out, values, count * sizeof *out);
    qsort(out, count, sizeof *out, compare);
}

double stats_median(double *values, size_t count)
{
    return stats_quantile(values, count, 0.5);
}

double stats_quantile(double *values, size_t count, double q)
{
    if (!(q >= 0.0 && q <= 1.0))
        BUG("stats: quantile %g", q);
    if (count == 0)
        return nan("");
    stats_sort(values, count, values);
    const double at = q * (double)(count - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= count)
        return values[count - 1];
    const double share = at - (double)below;
    return values[below] * (1.0 - share) + values[below + 1] * share;
}

double stats_mean(const double *values, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : nan("");
}

double stats_rms(const double *values, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return count ? sqrt(sum / (double)count) : nan("");
}

double stats_mad(const double *values, size_t count, double *scratch)
{
    if (count == 0)
        return nan("");
    memmove(scratch, values, count * sizeof *scratch);
    const double median = stats_median(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(scratch[i] - median);
    return stats_median(scratch, count);
}

double stats_geometric_mean(const double *logs, const double *weights, size_t count)
{
    double sum = 0.0;
    double total = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double weight = weights ? weights[i] : 1.0;
        sum += weight != 0.0 ? weight * logs[i] : 0.0;
        total += weight;
    }
    return total > 0.0 ? exp(sum / total) : nan("");
}

struct stats_interval stats_combine_log(const struct stats_interval *parts, const double *weights,
                                        size_t count)
{
    struct stats_interval out = {nan(""), nan(""), nan(""), 0};
    double total = 0.0;
    double mid = 0.0;
    double below = 0.0; /* squares of the weighted distances */
    double above = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double weight = weights ? weights[i] : 1.0;
        if (weight == 0.0)
            continue;
        const double log_mid = log(parts[i].mid);
        const double down = weight * (log_mid - log(parts[i].low));
        const double up = weight * (log(parts[i].high) - log_mid);
        total += weight;
        mid += weight * log_mid;
        below += down * down;
        above += up * up;
        out.count += parts[i].count;
    }
    /* A low end of 0 would be an infinite distance; all three must be numbers or none is. */
    if (!(total > 0.0) || !isfinite(mid) || !isfinite(below) || !isfinite(above))
        return (struct stats_interval){nan(""), nan(""), nan(""), out.count};
    out.mid = exp(mid / total);
    out.low = exp((mid - sqrt(below)) / total);
    out.high = exp((mid + sqrt(above)) / total);
    return out;
}

struct stats_posterior stats_shrink(double sum, double sum_squares, double count, double prior_mean,
                                    double prior_count, double prior_sd)
{
    if (!(prior_count > 0.0) || !(count >= 0.0))
        BUG("stats: a prior worth %g values, %g values", prior_count, count);
    const double all = prior_count + count;
    double squares = prior_count * prior_sd * prior_sd;
    if (count > 0.0) {
        const double mean = sum / count;
        const double off = mean - prior_mean;
        /* Rounding can make the spread of equal values a little negative. */
        squares += fmax(sum_squares - sum * mean, 0.0);
        squares += prior_count * count / all * off * off;
    }
    return (struct stats_posterior){
        .mean = (prior_count * prior_mean + sum) / all,
        .sd = sqrt(squares / all / all),
        .weight = count / all,
    };
}

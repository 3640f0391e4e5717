#include "stats/stats.h"

#include "base/err.h"

#include <math.h>

/*
 * Hill, "Algorithm 396: Student's t-quantiles", Communications of the ACM 13 (1970): exact for one
 * and two degrees of freedom, an expansion for more. Then one step of Newton's method with the
 * distribution function, which leaves an error below 1e-8.
 */

/* P(|T| <= x) by the finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and
 * 26.7.4). */
static double within(double x, unsigned df)
{
    const double theta = atan(x / sqrt((double)df));
    const double cosine2 = cos(theta) * cos(theta);
    const double pi = acos(-1.0);
    double term = df % 2 ? cos(theta) : 1.0;
    double sum = df > 1 ? term : 0.0;
    for (unsigned k = df % 2 ? 3 : 2; k + 1 < df; k += 2) {
        term *= cosine2 * (double)(k - 1) / (double)k;
        sum += term;
    }
    return df % 2 ? 2.0 / pi * (theta + sin(theta) * sum) : sin(theta) * sum;
}

static double density(double x, unsigned df)
{
    const double n = (double)df;
    return exp(lgamma((n + 1) / 2) - lgamma(n / 2) - 0.5 * log(n * acos(-1.0)) -
               (n + 1) / 2 * log1p(x * x / n));
}

/* Hill's expansion for the point that is exceeded on both sides together with `outside`. */
static double hill(double outside, double n)
{
    const double a = 1.0 / (n - 0.5), b = 48.0 / (a * a);
    double c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    const double d = ((94.5 / (b + c) - 3.0) / b + 1.0) * sqrt(a * acos(0.0)) * n;
    double y = pow(d * outside, 2.0 / n);
    if (y > 0.05 + a) {
        double x = stats_normal_quantile(outside * 0.5);
        y = x * x;
        if (n < 5.0)
            c += 0.3 * (n - 4.5) * (x + 0.6);
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) +
              0.5 / (n + 4.0)) *
                 y -
             1.0) *
                (n + 1.0) / (n + 2.0) +
            1.0 / y;
    }
    return sqrt(n * y);
}

double stats_student_quantile(double p, unsigned df)
{
    if (df == 0)
        BUG("stats: no degrees of freedom");
    if (!(p > 0.0 && p < 1.0) || p == 0.5)
        return p == 0.5 ? 0.0 : stats_normal_quantile(p);
    const double outside = 2.0 * (p < 0.5 ? p : 1.0 - p);
    double x = df == 1   ? 1.0 / tan(outside * acos(0.0))
               : df == 2 ? sqrt(2.0 / (outside * (2.0 - outside)) - 2.0)
                         : hill(outside, (double)df);
    if (df > 2)
        x -= (within(x, df) - (1.0 - outside)) / (2.0 * density(x, df));
    return p < 0.5 ? -x : x;
}

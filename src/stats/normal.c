#include "stats/stats.h"

#include <math.h>

/*
 * Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics
 * 37 (1988), PPND16: a rational function for each of three regions. Coefficients from the constant
 * term up; the constant term of each denominator is 1.
 */
enum { TERMS = 8 };

static const double center[2][TERMS] = {
    {3.3871328727963666080, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3},
};
static const double middle[2][TERMS] = {
    {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
     7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9},
};
static const double tail[2][TERMS] = {
    {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15},
};

static double polynomial(const double *coefficients, double x)
{
    double value = 0.0;
    for (int i = TERMS - 1; i >= 0; i--)
        value = value * x + coefficients[i];
    return value;
}

static double ratio(const double coefficients[2][TERMS], double x)
{
    return polynomial(coefficients[0], x) / polynomial(coefficients[1], x);
}

double stats_normal_quantile(double p)
{
    const double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * ratio(center, 0.180625 - q * q);
    if (!(p > 0.0 && p < 1.0)) {
        if (p == 0.0 || p == 1.0)
            return p == 0.0 ? -HUGE_VAL : HUGE_VAL;
        return nan("");
    }
    const double r = sqrt(-log(q < 0.0 ? p : 1.0 - p));
    const double x = r <= 5.0 ? ratio(middle, r - 1.6) : ratio(tail, r - 5.0);
    return q < 0.0 ? -x : x;
}

struct stats_interval stats_share(int64_t hits, int64_t count, double confidence)
{
    if (count <= 0)
        return (struct stats_interval){.mid = 0.5, .low = 0.0, .high = 1.0};
    const double n = (double)count, share = (double)hits / n;
    const double z = stats_normal_quantile(0.5 + confidence / 2.0);
    const double scale = 1.0 + z * z / n;
    const double middle_share = (share + z * z / (2.0 * n)) / scale;
    const double half = z * sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)) / scale;
    return (struct stats_interval){.mid = share,
                                   .low = fmax(middle_share - half, 0.0),
                                   .high = fmin(middle_share + half, 1.0),
                                   .count = (size_t)count};
}

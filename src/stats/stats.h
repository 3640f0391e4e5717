/*
 * Statistics of measurements: medians and their intervals, means of ratios, estimates with a prior.
 *
 * For the gate (is a candidate faster, and how sure is that), for reports and for the priors of the
 * search. Everything is a pure function: the same input and seed give the same bits, nothing is
 * kept, nothing is owned. Values are finite; a NaN among them gives a meaningless result, never a
 * crash. No data (count 0) gives NaN, which passes no comparison. Threads: any.
 *
 * Ratios are times of the baseline over times of the candidate: above 1 is faster. They are
 * averaged in log space, where twice as fast and half as fast cancel.
 */
#ifndef KOPE_STATS_STATS_H
#define KOPE_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An estimate and the interval around it; low <= mid <= high. */
struct stats_interval {
    double mid, low, high;
    size_t count; /* values behind it */
};

/* A share of which `hits` of `count` trials are an instance, with the interval of Wilson, "Probable
 * inference, the law of succession, and statistical inference", JASA 22 (1927); 0 to 1 where there
 * are no trials. */
struct stats_interval stats_share(int64_t hits, int64_t count, double confidence);

/* Ascending copy in `out`, which has room for `count` values and may be `values` itself. */
void stats_sort(const double *values, size_t count, double *out);

/* The middle value, or the mean of the middle two. Reorders `values`. */
double stats_median(double *values, size_t count);

/* The q-quantile, 0 <= q <= 1, linear between neighbours (type 7 of Hyndman and Fan, 1996; the
 * default of R and NumPy). Reorders `values`. */
double stats_quantile(double *values, size_t count, double q);

/* Arithmetic mean, and the root of the mean square. */
double stats_mean(const double *values, size_t count);
double stats_rms(const double *values, size_t count);

/* Median distance from the median, not scaled (x 1.4826 estimates the standard deviation of normal
 * values). `scratch` has room for `count` values. */
double stats_mad(const double *values, size_t count, double *scratch);

/* exp of the weighted mean of `logs`: the weighted geometric mean of the values whose logarithms
 * are given. `weights` are not negative; NULL weighs all the same. Weights that add up to 0 give
 * NaN. */
double stats_geometric_mean(const double *logs, const double *weights, size_t count);

/* The x with P(X <= x) = p for a standard normal X, to 1e-15; p outside (0, 1) gives an infinity,
 * NaN beyond. Algorithm AS 241 (Wichura, 1988). */
double stats_normal_quantile(double p);

/* The x with P(T <= x) = p for Student's t with `df` > 0 degrees of freedom, to 1e-8 for p that is
 * not within 1e-8 of an end. Algorithm 396 (Hill, 1970). */
double stats_student_quantile(double p, unsigned df);

/*
 * The median with a percentile-bootstrap interval that knows that values of one cluster (one
 * process, one build, one batch) resemble each other: each round draws as many clusters as there
 * are, with replacement, then from each as many values as it has, with replacement, and takes the
 * median of all. (Two-stage bootstrap: Davison and Hinkley, 1997, section 3.8; for run times
 * Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013.)
 *
 * `clusters[i]` is any number that names the cluster of `values[i]`; NULL: no clusters. With one
 * cluster, or none, only values are drawn, and the interval tells nothing about what differs
 * between clusters. With fewer than five clusters take it with care: there are few ways to draw
 * them. One value gives an interval of no width: look at `count`.
 *
 * `confidence` is in (0, 1), 0 means 0.95; `rounds` 0 means 1000. Time and memory grow with
 * rounds x count and with count.
 */
struct stats_interval stats_bootstrap_median(const double *values, const int *clusters,
                                             size_t count, double confidence, unsigned rounds,
                                             uint64_t seed);

/*
 * The mean with a percentile-bootstrap interval: each round draws as many values as there are, with
 * replacement. Where measurements come in clusters, give the mean of each cluster: what is drawn
 * must be independent. Confidence, rounds (0 means 2000) and few values as above.
 */
struct stats_interval stats_bootstrap_mean(const double *values, size_t count, double confidence,
                                           unsigned rounds, uint64_t seed);

/*
 * The median with an interval that holds what it promises with few clusters too, where percentiles
 * of the bootstrap are too narrow (with five clusters a 95 % interval holds some 85 %): middle plus
 * and minus Student's t times the bootstrap's standard error, with one degree of freedom less than
 * there are clusters, and the error freed of its bias by sqrt(k / (k - 1)). (Hesterberg, "What
 * teachers should know about the bootstrap", The American Statistician 69, 2015: small samples.)
 * Whole clusters are drawn, with replacement: what varies within them is in their values already,
 * and drawing these again would count it twice.
 *
 * One cluster tells nothing about the next: the interval is then infinite. `clusters` is not NULL.
 */
struct stats_interval stats_cluster_median(const double *values, const int *clusters, size_t count,
                                           double confidence, unsigned rounds, uint64_t seed);

/*
 * The confidence that each of `looks` at growing data must have, so that all of their intervals
 * together hold the truth with `confidence`, wherever one chooses to stop: the error is shared out
 * evenly (Bonferroni). It holds for any dependence between the looks and any rule of stopping;
 * Pocock (1977) and Lan and DeMets (1983) are a little narrower and assume more.
 */
double stats_look_confidence(double confidence, unsigned looks);

/*
 * The weighted geometric mean of independent ratios (one for each case of a task), with an interval
 * of the confidence that the parts have. In log space each side's distances from the middle are
 * combined as independent errors, sqrt(sum (w d)^2) / sum w: the square-and-add method (Zou and
 * Donner, 2008), which keeps intervals that are not symmetric so, and gives one part back as it is.
 * For symmetric parts it is the usual normal approximation.
 *
 * `weights` as in stats_geometric_mean; parts of weight 0 do not count. A part that is not positive
 * gives NaN. `count` of the result is the sum over the parts.
 */
struct stats_interval stats_combine_log(const struct stats_interval *parts, const double *weights,
                                        size_t count);

/*
 * What is known of a mean after some values and a prior guess: the posterior of a normal mean with
 * unknown variance (normal-inverse-gamma, Gelman et al., Bayesian Data Analysis, 3rd edition, 3.3).
 * `prior_count` > 0 says how many values the prior is worth, for the mean and for the spread;
 * `prior_sd` is the spread of single values that it expects. Given are the sum, the sum of squares
 * and the count of the values; the count may be a fraction where old values fade.
 */
struct stats_posterior {
    double mean;
    double sd;     /* of the mean, not of a value */
    double weight; /* share of the values in the mean: 0 is all prior, towards 1 is all data */
};
struct stats_posterior stats_shrink(double sum, double sum_squares, double count, double prior_mean,
                                    double prior_count, double prior_sd);

/* How well gains were foretold, in log-ratios. `brier` is the mean squared error of "it will be
 * faster" (1, 0, or 0.5 where no change was foretold) against whether it was; `slope` is that of
 * the least-squares line of measured on predicted: 1 is right, 0 knows nothing, above 1 is too
 * timid. It needs three pairs whose predictions differ, else `has_slope` is false. */
struct stats_calibration {
    size_t count;
    double brier, mean_abs_error;
    double mean_predicted, mean_measured;
    bool has_slope;
    double slope;
};
/* Pairs that are not finite are left out; without any all is 0. */
struct stats_calibration stats_calibrate(const double *predicted, const double *measured,
                                         size_t count);

#endif

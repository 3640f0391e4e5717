#include "stats/stats.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g is not %.17g", got, want);
}

static void stats_median__odd_and_even__middle(void **state)
{
    (void)state;
    double odd[] = {5, 1, 4, 2, 3};
    double even[] = {4, 1, 3, 2};
    double one[] = {7};
    assert_near(stats_median(odd, 5), 3.0, 0.0);
    assert_near(stats_median(even, 4), 2.5, 0.0);
    assert_near(stats_median(one, 1), 7.0, 0.0);
    assert_true(isnan(stats_median(NULL, 0)));
}

static void stats_quantile__between_values__linear(void **state)
{
    (void)state;
    double values[] = {40, 10, 30, 20};
    assert_near(stats_quantile(values, 4, 0.0), 10.0, 0.0);
    assert_near(stats_quantile(values, 4, 1.0), 40.0, 0.0);
    assert_near(stats_quantile(values, 4, 0.25), 17.5, 1e-12); /* numpy.quantile */
    assert_near(stats_quantile(values, 4, 0.9), 37.0, 1e-12);
}

static void stats_sort__copy_and_in_place__ascending(void **state)
{
    (void)state;
    double values[] = {3, -1, 2};
    double out[3];
    stats_sort(values, 3, out);
    assert_true(out[0] == -1 && out[1] == 2 && out[2] == 3);
    assert_true(values[0] == 3);
    stats_sort(values, 3, values);
    assert_true(values[0] == -1 && values[1] == 2 && values[2] == 3);
}

static void stats_share__hits_of_trials__interval_of_wilson(void **state)
{
    (void)state;
    /* statsmodels.proportion_confint(20, 100, method='wilson') */
    const struct stats_interval some = stats_share(20, 100, 0.95);
    assert_near(some.mid, 0.2, 1e-15);
    assert_near(some.low, 0.13336693, 1e-7);
    assert_near(some.high, 0.28882912, 1e-7);
    const struct stats_interval none = stats_share(0, 10, 0.95);
    assert_near(none.low, 0.0, 1e-12);
    assert_near(none.high, 0.27753279, 1e-7);
    const struct stats_interval all = stats_share(0, 0, 0.95);
    assert_true(all.low == 0.0 && all.high == 1.0);
}

static void stats_sort__nan__goes_last(void **state)
{
    (void)state;
    double values[] = {3, nan(""), 1, nan(""), 2};
    stats_sort(values, 5, values);
    assert_true(values[0] == 1 && values[1] == 2 && values[2] == 3);
    assert_true(isnan(values[3]) && isnan(values[4]));
}

static void stats_mean_rms_mad__known_values__known_results(void **state)
{
    (void)state;
    const double values[] = {1, 1, 2, 2, 4, 6, 9};
    double scratch[7];
    assert_near(stats_mean(values, 7), 25.0 / 7, 1e-15);
    assert_near(stats_rms((const double[]){3, 4}, 2), sqrt(12.5), 1e-15);
    assert_near(stats_mad(values, 7, scratch), 1.0, 0.0);
    assert_true(values[6] == 9);
    assert_true(isnan(stats_mean(values, 0)));
    assert_true(isnan(stats_rms(values, 0)));
    assert_true(isnan(stats_mad(values, 0, scratch)));
}

static void stats_geometric_mean__weights__weighted_in_log_space(void **state)
{
    (void)state;
    const double logs[] = {log(2.0), log(0.5), log(8.0)};
    assert_near(stats_geometric_mean(logs, NULL, 2), 1.0, 1e-15);
    assert_near(stats_geometric_mean(logs, NULL, 3), 2.0, 1e-15);
    assert_near(stats_geometric_mean(logs, (const double[]){1, 0, 1}, 3), 4.0, 1e-14);
    assert_near(stats_geometric_mean(logs, (const double[]){30, 10, 20}, 3), pow(2.0, 80.0 / 60),
                1e-14);
    assert_true(isnan(stats_geometric_mean(logs, (const double[]){0, 0, 0}, 3)));
    assert_true(isnan(stats_geometric_mean(logs, NULL, 0)));
}

static void stats_normal_quantile__all_regions__inverts_the_distribution(void **state)
{
    (void)state;
    static const double p[] = {1e-300, 1e-100, 1e-20, 1e-10, 1e-5, 0.001,
                               0.025,  0.07,   0.08,  0.3,   0.5};
    for (size_t i = 0; i < COUNT_OF(p); i++) {
        const double x = stats_normal_quantile(p[i]);
        /* The relative error of P grows with x squared. */
        assert_near(0.5 * erfc(-x / sqrt(2.0)) / p[i], 1.0, 1e-15 * (4 + x * x));
        if (p[i] > 1e-4)
            assert_near(stats_normal_quantile(1.0 - p[i]), -x, 1e-12);
    }
    assert_near(stats_normal_quantile(0.975), 1.959963984540054, 1e-15);
    assert_true(stats_normal_quantile(0.0) < 0 && isinf(stats_normal_quantile(0.0)));
    assert_true(stats_normal_quantile(1.0) > 0 && isinf(stats_normal_quantile(1.0)));
    assert_true(isnan(stats_normal_quantile(-0.1)));
    assert_true(isnan(stats_normal_quantile(1.1)));
    assert_true(isnan(stats_normal_quantile(nan(""))));
}

/* Normal values around 0; each cluster is shifted as a whole by `cluster_sd` times a normal number.
 */
static void simulate(struct rng *rng, double *values, int *clusters, int cluster_count, int size,
                     double cluster_sd)
{
    for (int k = 0; k < cluster_count; k++) {
        const double shift = cluster_sd * rng_normal(rng);
        for (int i = 0; i < size; i++) {
            values[k * size + i] = shift + rng_normal(rng);
            clusters[k * size + i] = 100 - k; /* names, not places */
        }
    }
}

/* In how many of 300 experiments does the 95 % interval hold the true median, 0? */
static int covered_of_300(double cluster_sd, bool tell_clusters)
{
    enum { CLUSTERS = 12, SIZE = 10 };
    double values[CLUSTERS * SIZE];
    int clusters[CLUSTERS * SIZE];
    struct rng rng = rng_seeded(11);
    int covered = 0;
    for (unsigned i = 0; i < 300; i++) {
        simulate(&rng, values, clusters, CLUSTERS, SIZE, cluster_sd);
        const struct stats_interval interval = stats_bootstrap_median(
            values, tell_clusters ? clusters : NULL, CLUSTERS * SIZE, 0.0, 200, i);
        covered += interval.low <= 0.0 && interval.high >= 0.0;
    }
    return covered;
}

static void stats_bootstrap_median__independent_values__covers_as_promised(void **state)
{
    (void)state;
    assert_in_range(covered_of_300(0.0, false), 273, 297); /* 91 to 99 % */
}

static void stats_bootstrap_median__clusters__cover_only_when_told(void **state)
{
    (void)state;
    assert_in_range(covered_of_300(1.0, true), 264, 297);
    assert_in_range(covered_of_300(1.0, false), 0, 225);
}

static void stats_bootstrap_median__same_seed__same_bits(void **state)
{
    (void)state;
    double values[60];
    int clusters[60];
    struct rng rng = rng_seeded(5);
    simulate(&rng, values, clusters, 6, 10, 0.5);
    const struct stats_interval a = stats_bootstrap_median(values, clusters, 60, 0.95, 0, 1);
    const struct stats_interval b = stats_bootstrap_median(values, clusters, 60, 0.0, 1000, 1);
    const struct stats_interval c = stats_bootstrap_median(values, clusters, 60, 0.95, 0, 2);
    assert_true(a.low == b.low && a.mid == b.mid && a.high == b.high);
    assert_true(a.low != c.low || a.high != c.high);
    assert_true(a.low <= a.mid && a.mid <= a.high);
    assert_int_equal(a.count, 60);
}

static void stats_bootstrap_median__more_confidence__wider(void **state)
{
    (void)state;
    double values[60];
    int clusters[60];
    struct rng rng = rng_seeded(5);
    simulate(&rng, values, clusters, 6, 10, 0.5);
    const struct stats_interval half = stats_bootstrap_median(values, clusters, 60, 0.5, 0, 1);
    const struct stats_interval most = stats_bootstrap_median(values, clusters, 60, 0.99, 0, 1);
    assert_true(most.low < half.low && half.high < most.high);
}

static void stats_bootstrap_median__order_of_values__does_not_matter(void **state)
{
    (void)state;
    double values[40];
    double reversed[40];
    int clusters[40];
    int reversed_clusters[40];
    struct rng rng = rng_seeded(9);
    simulate(&rng, values, clusters, 4, 10, 0.5);
    for (int i = 0; i < 40; i++) {
        reversed[i] = values[39 - i];
        reversed_clusters[i] = clusters[39 - i];
    }
    const struct stats_interval a = stats_bootstrap_median(values, clusters, 40, 0.0, 0, 1);
    const struct stats_interval b =
        stats_bootstrap_median(reversed, reversed_clusters, 40, 0.0, 0, 1);
    assert_true(a.low == b.low && a.mid == b.mid && a.high == b.high);
}

static void stats_bootstrap_median__one_cluster__as_without_clusters(void **state)
{
    (void)state;
    double values[30];
    int clusters[30];
    struct rng rng = rng_seeded(5);
    simulate(&rng, values, clusters, 1, 30, 0.0);
    const struct stats_interval a = stats_bootstrap_median(values, clusters, 30, 0.0, 0, 1);
    const struct stats_interval b = stats_bootstrap_median(values, NULL, 30, 0.0, 0, 1);
    assert_true(a.low == b.low && a.high == b.high);
    assert_true(a.low < a.high);
}

static void stats_bootstrap_median__few_values__edges(void **state)
{
    (void)state;
    const double one[] = {3.0};
    const double same[] = {2.0, 2.0, 2.0};
    struct stats_interval interval = stats_bootstrap_median(one, NULL, 1, 0.0, 0, 1);
    assert_true(interval.low == 3.0 && interval.mid == 3.0 && interval.high == 3.0);
    interval = stats_bootstrap_median(same, (const int[]){1, 2, 3}, 3, 0.0, 0, 1);
    assert_true(interval.low == 2.0 && interval.high == 2.0);
    interval = stats_bootstrap_median(NULL, NULL, 0, 0.0, 0, 1);
    assert_true(isnan(interval.mid) && isnan(interval.low) && interval.count == 0);
}

static void stats_combine_log__one_part__as_it_is(void **state)
{
    (void)state;
    const struct stats_interval part = {1.2, 1.1, 1.5, 40};
    const struct stats_interval all = stats_combine_log(&part, (const double[]){3.0}, 1);
    assert_near(all.mid, 1.2, 1e-14);
    assert_near(all.low, 1.1, 1e-14);
    assert_near(all.high, 1.5, 1e-14);
    assert_int_equal(all.count, 40);
}

static void stats_combine_log__equal_parts__narrower_by_the_root(void **state)
{
    (void)state;
    struct stats_interval parts[16];
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        parts[i] = (struct stats_interval){exp(0.3), exp(0.3 - 0.4), exp(0.3 + 0.8), 5};
    const struct stats_interval all = stats_combine_log(parts, NULL, COUNT_OF(parts));
    assert_near(log(all.mid), 0.3, 1e-14);
    assert_near(log(all.low), 0.3 - 0.1, 1e-14);
    assert_near(log(all.high), 0.3 + 0.2, 1e-14);
    assert_int_equal(all.count, 80);
}

static void stats_combine_log__weights__scale_free_and_zero_counts_not(void **state)
{
    (void)state;
    const struct stats_interval parts[] = {
        {2.0, 1.8, 2.2, 10}, {0.5, 0.4, 0.6, 10}, {nan(""), nan(""), nan(""), 10}};
    const struct stats_interval a = stats_combine_log(parts, (const double[]){1, 1, 0}, 3);
    const struct stats_interval b = stats_combine_log(parts, (const double[]){7, 7, 0}, 3);
    assert_near(a.mid, 1.0, 1e-14);
    assert_true(a.low < 1.0 && a.high > 1.0);
    assert_near(a.low, b.low, 1e-14);
    assert_near(a.high, b.high, 1e-14);
    assert_int_equal(a.count, 20);
}

static void stats_combine_log__no_ratio_among_them__nan(void **state)
{
    (void)state;
    const struct stats_interval zero[] = {{1.0, 0.9, 1.1, 5}, {1.0, 0.0, 1.1, 5}};
    assert_true(isnan(stats_combine_log(zero, NULL, 2).mid));
    assert_true(isnan(stats_combine_log(zero, NULL, 2).low));
    const struct stats_interval negative = {-1.0, -2.0, 1.0, 5};
    assert_true(isnan(stats_combine_log(&negative, NULL, 1).mid));
    assert_true(isnan(stats_combine_log(zero, NULL, 0).mid));
    assert_true(isnan(stats_combine_log(zero, (const double[]){0, 0}, 2).mid));
}

static void stats_shrink__no_values__is_the_prior(void **state)
{
    (void)state;
    const struct stats_posterior p = stats_shrink(0.0, 0.0, 0.0, 0.2, 4.0, 0.6);
    assert_near(p.mean, 0.2, 1e-15);
    assert_near(p.sd, 0.3, 1e-15);
    assert_near(p.weight, 0.0, 0.0);
}

static void stats_shrink__some_values__formula_by_hand(void **state)
{
    (void)state;
    /* 1, 2, 3 with a prior of 0 worth 1 value of spread 1: mean 6/4; squares 1 + 2 + 3/4 x 4 = 6.
     */
    const struct stats_posterior p = stats_shrink(6.0, 14.0, 3.0, 0.0, 1.0, 1.0);
    assert_near(p.mean, 1.5, 1e-15);
    assert_near(p.sd, sqrt(6.0 / 4 / 4), 1e-15);
    assert_near(p.weight, 0.75, 1e-15);
}

static void stats_shrink__many_values__is_the_data(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(4);
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < 10000; i++) {
        const double x = 5.0 + 2.0 * rng_normal(&rng);
        sum += x;
        squares += x * x;
    }
    const struct stats_posterior p = stats_shrink(sum, squares, 10000.0, 0.0, 3.0, 1.0);
    assert_near(p.mean, 5.0, 0.1);
    assert_near(p.sd, 0.02, 0.002);
    assert_true(p.weight > 0.999);
}

static void stats_shrink__equal_large_values__no_negative_spread(void **state)
{
    (void)state;
    const double x = 1e8 + 0.1;
    const struct stats_posterior p = stats_shrink(3 * x, 3 * (x * x), 3.0, x, 1.0, 0.0);
    assert_true(p.sd >= 0.0);
    assert_near(p.mean, x, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_median__odd_and_even__middle),
        cmocka_unit_test(stats_quantile__between_values__linear),
        cmocka_unit_test(stats_sort__copy_and_in_place__ascending),
        cmocka_unit_test(stats_share__hits_of_trials__interval_of_wilson),
        cmocka_unit_test(stats_sort__nan__goes_last),
        cmocka_unit_test(stats_mean_rms_mad__known_values__known_results),
        cmocka_unit_test(stats_geometric_mean__weights__weighted_in_log_space),
        cmocka_unit_test(stats_normal_quantile__all_regions__inverts_the_distribution),
        cmocka_unit_test(stats_bootstrap_median__independent_values__covers_as_promised),
        cmocka_unit_test(stats_bootstrap_median__clusters__cover_only_when_told),
        cmocka_unit_test(stats_bootstrap_median__same_seed__same_bits),
        cmocka_unit_test(stats_bootstrap_median__more_confidence__wider),
        cmocka_unit_test(stats_bootstrap_median__order_of_values__does_not_matter),
        cmocka_unit_test(stats_bootstrap_median__one_cluster__as_without_clusters),
        cmocka_unit_test(stats_bootstrap_median__few_values__edges),
        cmocka_unit_test(stats_combine_log__one_part__as_it_is),
        cmocka_unit_test(stats_combine_log__equal_parts__narrower_by_the_root),
        cmocka_unit_test(stats_combine_log__weights__scale_free_and_zero_counts_not),
        cmocka_unit_test(stats_combine_log__no_ratio_among_them__nan),
        cmocka_unit_test(stats_shrink__no_values__is_the_prior),
        cmocka_unit_test(stats_shrink__some_values__formula_by_hand),
        cmocka_unit_test(stats_shrink__many_values__is_the_data),
        cmocka_unit_test(stats_shrink__equal_large_values__no_negative_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

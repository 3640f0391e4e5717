/*
 * Intervals hold what they promise: simulations of what timing gives the gate (few processes that
 * differ, heavy tails, two levels of speed, drift), with a known truth of 0. Seeds are fixed, so
 * the counts are always the same; bounds leave three standard deviations of a count.
 */
#include "stats/stats.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST = 400, ROUNDS = 200 };

enum noise { NOISE_NORMAL, NOISE_CAUCHY, NOISE_TWO_LEVELS, NOISE_OUTLIERS, NOISE_DRIFT, NOISES };
static const char *const noise_names[] = {"normal", "Cauchy", "two levels", "outliers", "drift"};

static double draw(struct rng *rng, enum noise noise, double at)
{
    const double z = rng_normal(rng);
    switch (noise) {
    case NOISE_CAUCHY:
        return z / rng_normal(rng);
    case NOISE_TWO_LEVELS: /* one of a pair ran beside a busy neighbour, the other did not */
        return 0.1 * z + (double)rng_below(rng, 2) - (double)rng_below(rng, 2);
    case NOISE_OUTLIERS:
        return rng_below(rng, 10) ? z : 30 * (rng_below(rng, 2) ? 1.0 : -1.0) + z;
    case NOISE_DRIFT: /* what random order within pairs leaves of a slow change */
        return z + (rng_below(rng, 2) ? at : -at);
    case NOISE_NORMAL:
    case NOISES:
        break;
    }
    return z;
}

struct design {
    size_t clusters, size;
    double cluster_sd; /* of the shift that a process has as a whole; single values have 1 */
    enum noise noise;
};

static void simulate(struct rng *rng, const struct design *d, double *values, int *clusters)
{
    const double all = (double)(d->clusters * d->size);
    for (size_t k = 0; k < d->clusters; k++) {
        const double shift = d->cluster_sd * rng_normal(rng);
        for (size_t i = 0; i < d->size; i++) {
            const size_t at = k * d->size + i;
            values[at] = shift + draw(rng, d->noise, 2.0 * (double)at / all);
            clusters[at] = (int)k;
        }
    }
}

/* In how many of `times` experiments does the interval hold 0? */
static int covered(const struct design *d, double confidence, int times)
{
    double values[MOST];
    int clusters[MOST], held = 0;
    struct rng rng = rng_seeded(17);
    for (int i = 0; i < times; i++) {
        simulate(&rng, d, values, clusters);
        const struct stats_interval interval = stats_cluster_median(
            values, clusters, d->clusters * d->size, confidence, ROUNDS, (uint64_t)i);
        held += interval.low <= 0.0 && interval.high >= 0.0;
    }
    return held;
}

static void stats_cluster_median__noise_of_many_kinds__holds_95_percent(void **state)
{
    (void)state;
    enum { TIMES = 2000 };
    static const struct {
        size_t clusters, size;
    } shapes[] = {{6, 4}, {9, 8}};
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        for (int noise = 0; noise < NOISES; noise++)
            for (int sd = 0; sd <= 2; sd += 2) {
                const struct design design = {shapes[shape].clusters, shapes[shape].size,
                                              (double)sd / 2, (enum noise)noise};
                const int held = covered(&design, 0.95, TIMES);
                print_message("%2zu x %zu, clusters %.1f, %-10s: %.1f %%\n", design.clusters,
                              design.size, design.cluster_sd, noise_names[noise],
                              100.0 * held / TIMES);
                assert_true(held >= TIMES * 93 / 100);
            }
}

static void stats_bootstrap_median__five_clusters__too_narrow_as_documented(void **state)
{
    (void)state;
    const struct design design = {5, 8, 1.0, NOISE_NORMAL};
    double values[MOST];
    int clusters[MOST], held = 0;
    struct rng rng = rng_seeded(17);
    for (int i = 0; i < 400; i++) {
        simulate(&rng, &design, values, clusters);
        const struct stats_interval interval =
            stats_bootstrap_median(values, clusters, 40, 0.95, ROUNDS, (uint64_t)i);
        held += interval.low <= 0.0 && interval.high >= 0.0;
    }
    assert_in_range(held, 300, 374);
}

/* The most adverse rule of stopping: at the first look that excludes the truth. */
static int wrong_at_any_look(const struct design *full, unsigned looks_planned, int times)
{
    static const size_t looks[] = {6, 9, 13, 20, 32};
    double values[MOST];
    int clusters[MOST], wrong = 0;
    struct rng rng = rng_seeded(23);
    for (int i = 0; i < times; i++) {
        simulate(&rng, full, values, clusters);
        bool excluded = false;
        for (size_t look = 0; look < sizeof looks / sizeof *looks; look++) {
            const struct stats_interval interval = stats_cluster_median(
                values, clusters, looks[look] * full->size,
                stats_look_confidence(0.95, looks_planned), ROUNDS, (uint64_t)i);
            excluded = excluded || interval.low > 0.0 || interval.high < 0.0;
        }
        wrong += excluded;
    }
    return wrong;
}

static void stats_look_confidence__five_looks__error_stays_below_five_percent(void **state)
{
    (void)state;
    for (int noise = 0; noise < NOISES; noise++) {
        const struct design design = {32, 8, 0.5, (enum noise)noise};
        const int wrong = wrong_at_any_look(&design, 5, 300);
        print_message("five looks, %s: %.1f %% wrong\n", noise_names[noise], 100.0 * wrong / 300);
        assert_in_range(wrong, 0, 15 + 11);
    }
}

static void stats_look_confidence__looks_not_counted__error_is_far_above(void **state)
{
    (void)state;
    const struct design design = {32, 8, 0.5, NOISE_NORMAL};
    const int counted = wrong_at_any_look(&design, 5, 300);
    const int not_counted = wrong_at_any_look(&design, 1, 300);
    assert_true(not_counted > 15 + 11);
    assert_true(not_counted > 2 * counted);
}

static void stats_cluster_median__one_cluster__tells_nothing(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3};
    const int clusters[] = {7, 7, 7};
    const struct stats_interval interval = stats_cluster_median(values, clusters, 3, 0.95, 0, 1);
    assert_true(interval.mid == 2.0 && isinf(interval.low) && isinf(interval.high));
    assert_true(isnan(stats_cluster_median(NULL, NULL, 0, 0.95, 0, 1).mid));
}

static void stats_student_quantile__table__agrees(void **state)
{
    (void)state;
    static const struct {
        double p;
        unsigned df;
        double x;
    } table[] = {
        {0.975, 1, 12.7062047362},  {0.975, 2, 4.30265272975}, {0.975, 3, 3.18244630528},
        {0.975, 4, 2.77644510520},  {0.995, 4, 4.60409487135}, {0.975, 5, 2.57058183564},
        {0.995, 7, 3.49948329735},  {0.95, 10, 1.81246112281}, {0.995, 33, 2.73327664235},
        {0.9995, 4, 8.61030158138}, {0.6, 30, 0.25560536495},  {0.975, 1000, 1.96233908082}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const double x = stats_student_quantile(table[i].p, table[i].df);
        if (!(fabs(x - table[i].x) < 1e-7))
            fail_msg("p %g, df %u: %.11f", table[i].p, table[i].df, x);
        assert_true(fabs(stats_student_quantile(1 - table[i].p, table[i].df) + x) < 1e-7);
    }
    assert_true(stats_student_quantile(0.5, 3) == 0.0);
    assert_true(isinf(stats_student_quantile(1.0, 3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_student_quantile__table__agrees),
        cmocka_unit_test(stats_cluster_median__one_cluster__tells_nothing),
        cmocka_unit_test(stats_cluster_median__noise_of_many_kinds__holds_95_percent),
        cmocka_unit_test(stats_bootstrap_median__five_clusters__too_narrow_as_documented),
        cmocka_unit_test(stats_look_confidence__five_looks__error_stays_below_five_percent),
        cmocka_unit_test(stats_look_confidence__looks_not_counted__error_is_far_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

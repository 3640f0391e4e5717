/* The effect of showing something, where the truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stats/uplift.h"

#include <math.h>

enum { RUNS = 60, STEPS = 8, ITEMS = 6, TRIALS = RUNS * STEPS * ITEMS };

/* Runs that differ from each other; in each, every item is shown or withheld for the whole run. */
static void draw(struct rng *rng, double effect, double propensity, struct stats_trial *trials)
{
    size_t n = 0;
    for (size_t run = 0; run < RUNS; run++) {
        bool shown[ITEMS];
        double base = 0.3 * rng_normal(rng);
        for (size_t i = 0; i < ITEMS; i++) {
            shown[i] = rng_uniform(rng) < propensity;
            base += shown[i] ? effect : 0.0;
        }
        for (size_t step = 0; step < STEPS; step++) {
            const double outcome = base + 0.2 * rng_normal(rng);
            for (size_t i = 0; i < ITEMS; i++)
                trials[n++] = (struct stats_trial){run, outcome, propensity, shown[i]};
        }
    }
}

static double coverage(double effect, double propensity, double *mean)
{
    static struct stats_trial trials[TRIALS];
    struct rng rng = rng_seeded(17);
    enum { WORLDS = 200 };
    int inside = 0;
    *mean = 0.0;
    for (int world = 0; world < WORLDS; world++) {
        draw(&rng, effect, propensity, trials);
        const struct stats_uplift u =
            stats_uplift_estimate(trials, TRIALS, RUNS, 200, (uint64_t)world);
        inside += u.low <= effect && effect <= u.high;
        *mean += u.effect / WORLDS;
    }
    return (double)inside / WORLDS;
}

static void stats_uplift_estimate__known_effect__interval_covers(void **state)
{
    double mean = 0.0;
    assert_true(coverage(0.2, 0.8, &mean) >= 0.92);
    assert_true(fabs(mean - 0.2) < 0.02);
    assert_true(coverage(0.2, 0.95, &mean) >= 0.92);
    assert_true(fabs(mean - 0.2) < 0.03);
    (void)state;
}

static void stats_uplift_estimate__no_effect__interval_covers_zero(void **state)
{
    double mean = 0.0;
    assert_true(coverage(0.0, 0.95, &mean) >= 0.92);
    assert_true(fabs(mean) < 0.03);
    (void)state;
}

/* What is easy is shown more often: the weights undo it. */
static void stats_uplift_estimate__propensities_differ__is_not_biased(void **state)
{
    static struct stats_trial trials[40000];
    struct rng rng = rng_seeded(3);
    for (size_t i = 0; i < 40000; i++) {
        const bool easy = i % 2;
        const double propensity = easy ? 0.95 : 0.5;
        const bool shown = rng_uniform(&rng) < propensity;
        trials[i] = (struct stats_trial){
            i / 20, (easy ? 1.0 : 0.0) + (shown ? 0.1 : 0.0) + 0.1 * rng_normal(&rng), propensity,
            shown};
    }
    const struct stats_uplift u = stats_uplift_estimate(trials, 40000, 2000, 100, 1);
    assert_true(fabs(u.effect - 0.1) < 0.03);
    assert_true(u.low < 0.1 && u.high > 0.1);
    (void)state;
}

static void stats_uplift_estimate__one_arm_or_one_run__claims_nothing(void **state)
{
    const struct stats_trial shown[] = {{0, 1.0, 0.9, true}, {1, 1.0, 0.9, true}};
    struct stats_uplift u = stats_uplift_estimate(shown, 2, 2, 0, 1);
    assert_true(isnan(u.effect) && isinf(u.error) && isinf(u.low) && isinf(u.high));
    const struct stats_trial one_run[] = {{0, 1.0, 0.9, true}, {0, 0.5, 0.9, false}};
    u = stats_uplift_estimate(one_run, 2, 1, 0, 1);
    assert_true(fabs(u.effect - 0.5) < 1e-12 && isinf(u.high));
    assert_int_equal(u.clusters_withheld, 1);
    const struct stats_trial unusable[] = {{0, (double)NAN, 0.9, true}, {0, 1.0, 1.0, true}};
    u = stats_uplift_estimate(unusable, 2, 1, 0, 1);
    assert_int_equal(u.shown + u.withheld, 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_uplift_estimate__known_effect__interval_covers),
        cmocka_unit_test(stats_uplift_estimate__no_effect__interval_covers_zero),
        cmocka_unit_test(stats_uplift_estimate__propensities_differ__is_not_biased),
        cmocka_unit_test(stats_uplift_estimate__one_arm_or_one_run__claims_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

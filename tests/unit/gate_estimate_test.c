/* What timed pairs say, of times that are made up: no clock is part of it. */
#include "gate/estimate.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

/* How the times come about: exp of a sum of effects around 100 us. */
struct world {
    double truth;         /* log(baseline / candidate) */
    double order;         /* added to whoever is first in its pair */
    double noise;         /* standard deviation */
    double slow_share;    /* samples that another process makes 30 % slower */
    double process;       /* spread of the difference from process to process */
    int processes, pairs; /* of each process */
};

static double sample(const struct world *w, bool is_first, double effect, struct rng *rng)
{
    const double slow = rng_uniform(rng) < w->slow_share ? 0.3 : 0;
    return 1e5 * exp(effect + slow + w->noise * rng_normal(rng) + (is_first ? w->order : 0));
}

static struct timed_pairs *draw(const struct world *w, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    struct timed_pairs *all = calloc(1, sizeof *all);
    if (!all)
        fail_msg("out of memory");
    bool first = false;
    for (int p = 0; p < w->processes; p++) {
        const double process = w->process * rng_normal(&rng);
        for (int i = 0; i < w->pairs; i++) {
            first = all->count % 2 ? !first : rng_below(&rng, 2) == 0;
            all->pair[all->count++] = (struct timed_pair){
                .process = p,
                .baseline_first = first,
                .baseline_ns = sample(w, first, w->truth + process, &rng),
                .candidate_ns = sample(w, !first, 0, &rng),
            };
        }
    }
    return all;
}

static double half_width(const struct world *w, uint64_t seed)
{
    struct timed_pairs *all = draw(w, seed);
    const struct stats_interval interval = pairs_interval(all, 0.95, seed);
    free(all);
    return (interval.high - interval.low) / 2;
}

static void pairs_interval__only_the_order_differs__ratio_is_exactly_one(void **state)
{
    (void)state;
    struct timed_pairs *all = draw(&(struct world){.order = 0.2, .processes = 6, .pairs = 6}, 1);
    const struct stats_interval interval = pairs_interval(all, 0.95, 1);
    assert_true(fabs(interval.mid) < 1e-12);
    assert_true(interval.high - interval.low < 1e-12);
    assert_true(pairs_noise(all, 1) < 1e-12);
    free(all);
}

/* Without the order taken out, 10 % of it would be most of the spread. */
static void pairs_interval__order_and_noise__no_wider_than_without_order(void **state)
{
    (void)state;
    const struct world calm = {.noise = 0.02, .processes = 12, .pairs = 8};
    struct world turned = calm;
    turned.order = 0.1;
    double without = 0, with = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        without += half_width(&calm, seed);
        with += half_width(&turned, seed);
    }
    assert_true(with < 1.1 * without);
}

static void pairs_interval__one_sample_in_five_is_slow__finds_five_percent(void **state)
{
    (void)state;
    const struct world w = {.truth = -0.05,
                            .order = 0.1,
                            .noise = 0.02,
                            .slow_share = 0.2,
                            .process = 0.01,
                            .processes = 16,
                            .pairs = 12};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct timed_pairs *all = draw(&w, seed);
        const struct stats_interval interval =
            pairs_interval(all, look_confidence(LOOKS - 1, true), seed);
        assert_true(interval.high < -0.02);
        assert_true(interval.low > -0.08);
        assert_true(3 * pairs_noise(all, 1) < 0.03);
        free(all);
    }
}

/* Looks after 6, 10, 18 and 32 processes and one when time is up after 40, stopping at the first
 * that claims a difference: the error stays below 5 %. */
static void look_confidence__stops_where_it_claims__error_stays_below_five_percent(void **state)
{
    (void)state;
    static const int looks[] = {6, 10, 18, 32, 40};
    enum { RUNS = 400 };
    const struct world w = {.order = 0.05,
                            .noise = 0.03,
                            .slow_share = 0.1,
                            .process = 0.01,
                            .processes = 40,
                            .pairs = 4};
    int claims = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct timed_pairs *all = draw(&w, seed);
        bool claimed = false;
        for (size_t look = 0; look < LOOKS && !claimed; look++) {
            all->count = (size_t)(looks[look] * w.pairs);
            const struct stats_interval interval =
                pairs_interval(all, look_confidence(look, look == LOOKS - 1), seed);
            claimed = interval.low > 0 || interval.high < 0;
        }
        claims += claimed;
        free(all);
    }
    assert_true(claims <= RUNS * 5 / 100);
    assert_true(claims > 0); /* nor is it never */
}

static void look_confidence__every_path__has_the_same_error(void **state)
{
    (void)state;
    for (size_t last = 0; last < LOOKS; last++) {
        double error = 1 - look_confidence(last, true);
        for (size_t look = 0; look < last; look++)
            error += 1 - look_confidence(look, false);
        assert_true(error < 0.05);
        assert_true(fabs(error - (1 - look_confidence(0, true))) < 1e-12);
    }
}

/* A/A noise is about what the median of so many pairs errs by. */
static void pairs_noise__known_noise__is_the_error_of_the_median(void **state)
{
    (void)state;
    const struct world w = {.order = 0.1, .noise = 0.02, .processes = 20, .pairs = 8};
    const double truth = 0.02 * sqrt(2) * 1.2533 / sqrt(20 * 8);
    double sum = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct timed_pairs *all = draw(&w, seed);
        sum += pairs_noise(all, 1);
        free(all);
    }
    assert_true(sum / 40 > 0.8 * truth && sum / 40 < 2 * truth);
}

static void pairs_noise__one_pair_a_process__is_between_processes(void **state)
{
    (void)state;
    struct timed_pairs *all = draw(&(struct world){.noise = 0.02, .processes = 8, .pairs = 1}, 3);
    assert_true(pairs_noise(all, 1) > 0.001);
    all->count = 1;
    assert_true(pairs_noise(all, 1) == 0.0);
    all->count = 0;
    assert_int_equal(pairs_baseline_ns(all), 0);
    free(all);
}

static bool says_nothing(double low, double high)
{
    const struct stats_interval logs = {(log(low) + log(high)) / 2, log(low), log(high), 5};
    return interval_says_nothing(&logs);
}

static void interval_says_nothing__wide_beside_its_effect(void **state)
{
    (void)state;
    assert_false(says_nothing(0.80, 1.25));
    assert_true(says_nothing(0.75, 1.35));
    assert_true(says_nothing(1.5, 3.0));
    assert_true(says_nothing(1 / 3.0, 1 / 1.5));
    assert_false(says_nothing(180.0, 750.0));
    assert_true(says_nothing(120.0, 1100.0));
    const struct stats_interval none = {NAN, NAN, NAN, 0};
    assert_true(interval_says_nothing(&none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_interval__only_the_order_differs__ratio_is_exactly_one),
        cmocka_unit_test(pairs_interval__order_and_noise__no_wider_than_without_order),
        cmocka_unit_test(pairs_interval__one_sample_in_five_is_slow__finds_five_percent),
        cmocka_unit_test(look_confidence__stops_where_it_claims__error_stays_below_five_percent),
        cmocka_unit_test(look_confidence__every_path__has_the_same_error),
        cmocka_unit_test(pairs_noise__known_noise__is_the_error_of_the_median),
        cmocka_unit_test(pairs_noise__one_pair_a_process__is_between_processes),
        cmocka_unit_test(interval_says_nothing__wide_beside_its_effect),
    };
    return cmocka_run_group_tests_name("gate_estimate", tests, NULL, NULL);
}

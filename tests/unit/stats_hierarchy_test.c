/* Groups within groups whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stats/hierarchy.h"

#include <math.h>

#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))

/* root -> families -> tasks; in each task one mean. */
enum { FAMILIES = 4, TASKS = 5, GROUPS = 1 + FAMILIES + FAMILIES * TASKS, TREES = 6 };

struct forest {
    struct stats_group groups[TREES * GROUPS];
    double truth[TREES * GROUPS];
    size_t count;
};

struct spreads {
    double family, task, noise;
};

static void grow_tree(struct forest *f, double root, struct spreads sd, struct rng *rng)
{
    const size_t base = f->count;
    f->truth[base] = root;
    f->groups[base] = (struct stats_group){.parent = base};
    f->count++;
    for (size_t i = 0; i < FAMILIES; i++) {
        const size_t family = f->count++;
        f->groups[family] = (struct stats_group){.parent = base};
        f->truth[family] = root + sd.family * rng_normal(rng);
        for (size_t t = 0; t < TASKS; t++) {
            const size_t task = f->count++;
            f->groups[task] = (struct stats_group){.parent = family};
            f->truth[task] = f->truth[family] + sd.task * rng_normal(rng);
            stats_group_see(&f->groups[task], f->truth[task] + sd.noise * rng_normal(rng),
                            sd.noise * sd.noise);
        }
    }
}

static void stats_groups_fit__known_truth__posteriors_cover_it(void **state)
{
    struct rng rng = rng_seeded(7);
    int inside = 0;
    int all = 0;
    double family = 0.0;
    double task = 0.0;
    for (int round = 0; round < 60; round++) {
        struct forest f = {.count = 0};
        for (int tree = 0; tree < TREES; tree++)
            grow_tree(&f, 0.3 * rng_normal(&rng), (struct spreads){0.25, 0.1, 0.1}, &rng);
        struct stats_between levels[2] = {{.prior = 0.04, .prior_count = 4.0},
                                          {.prior = 0.04, .prior_count = 4.0}};
        stats_groups_fit(f.groups, f.count, levels, 2);
        family += levels[0].learned / 60.0;
        task += levels[1].learned / 60.0;
        for (size_t i = 0; i < f.count; i++) {
            const struct stats_normal p = stats_group_posterior(f.groups, i);
            inside += fabs(p.mean - f.truth[i]) <= 1.96 * sqrt(p.variance);
            all++;
        }
    }
    NEAR((double)inside / all, 0.95, 0.02);
    NEAR(sqrt(family), 0.25, 0.03);
    NEAR(sqrt(task), 0.1, 0.02);
    (void)state;
}

/* With two levels and equal variances the answer can be worked out by hand. */
static void stats_group_posterior__small_tree__is_exact(void **state)
{
    struct stats_group groups[3] = {{.parent = 0}, {.parent = 0}, {.parent = 0}};
    stats_group_see(&groups[0], 0.0, 1.0); /* the prior */
    stats_group_see(&groups[1], 2.0, 1.0);
    struct stats_between level = {.prior = 1.0, .prior_count = 1e12};
    stats_groups_fit(groups, 3, &level, 1);
    /* root: prior N(0, 1) and the message N(2, 2): precision 1.5, mean 1 / 1.5 */
    const struct stats_normal root = stats_group_posterior(groups, 0);
    NEAR(root.mean, 2.0 / 3.0, 1e-9);
    NEAR(root.variance, 2.0 / 3.0, 1e-9);
    /* seen child: N(0, 2) from above and N(2, 1) of its own */
    const struct stats_normal seen = stats_group_posterior(groups, 1);
    NEAR(seen.mean, 2.0 / 1.5, 1e-9);
    NEAR(seen.variance, 1.0 / 1.5, 1e-9);
    /* unseen child: the root's posterior spread by 1 */
    const struct stats_normal unseen = stats_group_posterior(groups, 2);
    NEAR(unseen.mean, 2.0 / 3.0, 1e-9);
    NEAR(unseen.variance, 5.0 / 3.0, 1e-9);
    const struct stats_normal same = stats_group_unseen(groups, 0, 1.0);
    NEAR(same.variance, unseen.variance, 1e-9);
    (void)state;
}

static struct stats_normal root_of(const double *means, size_t count, struct stats_between *level)
{
    struct stats_group groups[9] = {{.parent = 0}};
    for (size_t i = 0; i < count; i++)
        stats_group_see(&groups[i + 1], means[i], 0.001);
    stats_groups_fit(groups, count + 1, level, 1);
    return stats_group_unseen(groups, 0, groups[1].between);
}

static void stats_groups_fit__contradictory_groups__widen(void **state)
{
    const double agreeing[] = {0.19, 0.21, 0.2, 0.2};
    const double contradicting[] = {0.6, -0.2, 0.5, -0.1};
    struct stats_between level = {.prior = 0.01, .prior_count = 2.0};
    struct stats_between other = level;
    const struct stats_normal a = root_of(agreeing, 4, &level);
    const struct stats_normal b = root_of(contradicting, 4, &other);
    NEAR(a.mean, b.mean, 0.01);
    assert_true(b.variance > 10.0 * a.variance);
    assert_true(other.learned > level.learned);
    (void)state;
}

static void stats_groups_fit__nothing_seen__gives_the_priors(void **state)
{
    struct stats_group groups[2] = {{.parent = 0}, {.parent = 0}};
    struct stats_between level = {.prior = 0.25, .prior_count = 3.0};
    stats_group_see(&groups[0], 0.4, 0.09);
    stats_group_see(&groups[1], (double)NAN, 1.0);
    stats_group_see(&groups[1], 1.0, 0.0);
    stats_groups_fit(groups, 2, &level, 1);
    const struct stats_normal leaf = stats_group_posterior(groups, 1);
    NEAR(leaf.mean, 0.4, 1e-12);
    NEAR(leaf.variance, 0.34, 1e-12);
    NEAR(level.learned, 0.25, 1e-12);
    assert_int_equal(level.count, 0);
    struct stats_group empty = {.parent = 0};
    stats_groups_fit(&empty, 1, &level, 1);
    assert_true(isinf(stats_group_posterior(&empty, 0).variance));
    (void)state;
}

static void stats_distance_variance__pairs_of_known_spread__finds_it(void **state)
{
    enum { PAIRS = 400 };
    struct rng rng = rng_seeded(11);
    double differences[PAIRS];
    double variances[PAIRS];
    double distances[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) {
        distances[i] = 0.2 + 1.5 * rng_uniform(&rng);
        variances[i] = 0.01;
        differences[i] = sqrt(0.01 + 0.09 * distances[i] * distances[i]) * rng_normal(&rng);
    }
    NEAR(stats_distance_variance(differences, variances, distances, PAIRS, 0.02, 5.0), 0.09, 0.02);
    /* Few pairs: mostly the prior. Equal ones: nothing is lost on the way. */
    NEAR(stats_distance_variance(differences, variances, distances, 0, 0.02, 5.0), 0.02, 1e-12);
    for (size_t i = 0; i < PAIRS; i++)
        differences[i] = 0.1 * rng_normal(&rng);
    assert_true(stats_distance_variance(differences, variances, distances, PAIRS, 0.02, 5.0) <
                0.005);
    (void)state;
}

static void stats_expected_gain__is_the_mean_of_the_positive_part(void **state)
{
    NEAR(stats_expected_gain(0.0, 1.0), 0.3989422804, 1e-9);
    NEAR(stats_expected_gain(3.0, 0.0), 3.0, 1e-12);
    NEAR(stats_expected_gain(-3.0, 0.0), 0.0, 1e-12);
    assert_true(stats_expected_gain(-0.5, 0.3) < stats_expected_gain(-0.5, 0.6));
    NEAR(stats_expected_gain(5.0, 1.0), 5.0, 1e-5);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stats_groups_fit__known_truth__posteriors_cover_it),
        cmocka_unit_test(stats_group_posterior__small_tree__is_exact),
        cmocka_unit_test(stats_groups_fit__contradictory_groups__widen),
        cmocka_unit_test(stats_groups_fit__nothing_seen__gives_the_priors),
        cmocka_unit_test(stats_distance_variance__pairs_of_known_spread__finds_it),
        cmocka_unit_test(stats_expected_gain__is_the_mean_of_the_positive_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

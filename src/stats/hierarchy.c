#include "stats/hierarchy.h"

#include "base/err.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A pair may not speak louder than so many others, however exact it is. */
#define LEAST_PAIR_VARIANCE 1e-6

void stats_group_see(struct stats_group *group, double mean, double variance)
{
    if (!isfinite(mean) || !isfinite(variance) || !(variance > 0.0))
        return;
    group->precision += 1.0 / variance;
    group->weighted += mean / variance;
}

/* What a group tells its parent. */
static struct stats_group message_of(const struct stats_group *group)
{
    struct stats_group out = {0};
    if (group->below_precision > 0.0) {
        out.precision = 1.0 / (1.0 / group->below_precision + group->between);
        out.weighted = group->below_weighted / group->below_precision * out.precision;
    }
    return out;
}

/* Moments of the groups of one level, summed over parents. */
struct moments {
    double excess;  /* Q - (k - 1) */
    double scale;   /* sum w - sum w^2 / sum w */
    double freedom; /* sum of k - 1 */
};

/* What a parent sums over its children in `work`, and a root over the parents of its tree. */
enum { CHILDREN, WEIGHT, WEIGHT_SQUARES, WEIGHTED, WEIGHTED_SQUARES, EXCESS, SCALE, FREEDOM };
static_assert(FREEDOM + 1 == sizeof((struct stats_group *)0)->work / sizeof(double),
              "room for each sum");

static void add_child(struct stats_group *parent, const struct stats_group *group)
{
    const double weight = group->below_precision;
    const double mean = group->below_weighted / weight;
    parent->work[CHILDREN] += 1.0;
    parent->work[WEIGHT] += weight;
    parent->work[WEIGHT_SQUARES] += weight * weight;
    parent->work[WEIGHTED] += weight * mean;
    parent->work[WEIGHTED_SQUARES] += weight * mean * mean;
}

static void add_parent(struct stats_group *root, const struct stats_group *parent)
{
    const double *sums = parent->work;
    const double freedom = sums[CHILDREN] - 1.0;
    if (freedom < 1.0)
        return;
    const double q =
        fmax(sums[WEIGHTED_SQUARES] - sums[WEIGHTED] * sums[WEIGHTED] / sums[WEIGHT], 0.0);
    root->work[EXCESS] += q - freedom;
    root->work[SCALE] += sums[WEIGHT] - sums[WEIGHT_SQUARES] / sums[WEIGHT];
    root->work[FREEDOM] += freedom;
}

/* May be negative: chance can make groups more alike than their noise. Cut off only after the prior
 * is in, or little data would be biased upwards. */
static double variance_of(const struct moments *moments)
{
    return moments->scale > 0.0 ? moments->excess / moments->scale : 0.0;
}

static double towards(double prior, double prior_count, double learned, double count)
{
    const double all = prior_count + count;
    return all > 0.0 ? fmax((prior_count * prior + count * learned) / all, 0.0) : prior;
}

/* Moments of the children at `level`, left in the root of each tree; their sum. */
static struct moments level_moments(struct stats_group *groups, size_t count, size_t level)
{
    struct moments all = {0};
    for (size_t i = 0; i < count; i++)
        memset(groups[i].work, 0, sizeof groups[i].work);
    for (size_t i = 0; i < count; i++) {
        if (groups[i].level == level && groups[i].below_precision > 0.0)
            add_child(&groups[groups[i].parent], &groups[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (groups[i].level + 1 == level)
            add_parent(&groups[groups[i].root], &groups[i]);
    }
    for (size_t i = 0; i < count; i++) {
        all.excess += groups[i].work[EXCESS];
        all.scale += groups[i].work[SCALE];
        all.freedom += groups[i].work[FREEDOM];
    }
    return all;
}

static void place_groups(struct stats_group *groups, size_t count, size_t level_count)
{
    for (size_t i = 0; i < count; i++) {
        struct stats_group *group = &groups[i];
        if (group->parent > i)
            BUG("stats: group %zu stands before its parent", i);
        const bool is_root = group->parent == i;
        group->level = is_root ? 0 : groups[group->parent].level + 1;
        group->root = is_root ? i : groups[group->parent].root;
        if (group->level > level_count)
            BUG("stats: more than %zu levels", level_count);
        group->below_precision = group->precision;
        group->below_weighted = group->weighted;
    }
}

static void fit_level(struct stats_group *groups, size_t count, size_t level,
                      struct stats_between *between)
{
    const struct moments all = level_moments(groups, count, level);
    between->count = (size_t)all.freedom;
    between->learned =
        towards(between->prior, between->prior_count, variance_of(&all), all.freedom);
    for (size_t i = 0; i < count; i++) {
        const double *sums = groups[groups[i].root].work;
        const struct moments own = {sums[EXCESS], sums[SCALE], sums[FREEDOM]};
        if (groups[i].level != level)
            continue;
        /* What the other trees say is the prior of this one: its own data count once. */
        const struct moments others = {all.excess - own.excess, all.scale - own.scale,
                                       all.freedom - own.freedom};
        const double prior =
            towards(between->prior, between->prior_count, variance_of(&others), others.freedom);
        groups[i].between = towards(prior, between->prior_count, variance_of(&own), own.freedom);
    }
}

void stats_groups_fit(struct stats_group *groups, size_t count, struct stats_between *levels,
                      size_t level_count)
{
    if (level_count > STATS_MAX_LEVELS)
        BUG("stats: %zu levels", level_count);
    place_groups(groups, count, level_count);
    for (size_t level = level_count; level > 0; level--) {
        fit_level(groups, count, level, &levels[level - 1]);
        for (size_t i = 0; i < count; i++) {
            if (groups[i].level != level)
                continue;
            const struct stats_group message = message_of(&groups[i]);
            groups[groups[i].parent].below_precision += message.precision;
            groups[groups[i].parent].below_weighted += message.weighted;
        }
    }
}

void stats_group_add(struct stats_group *groups, size_t at, double mean, double variance)
{
    if (!(variance > 0.0) || !isfinite(variance) || !isfinite(mean))
        return;
    double precision = 1.0 / variance;
    double weighted = mean / variance;
    for (;; at = groups[at].parent) {
        const struct stats_group before = message_of(&groups[at]);
        groups[at].below_precision += precision;
        groups[at].below_weighted += weighted;
        if (groups[at].parent == at)
            return;
        const struct stats_group after = message_of(&groups[at]);
        precision = after.precision - before.precision;
        weighted = after.weighted - before.weighted;
    }
}

/* A normal by its natural parameters. */
struct natural {
    double precision, weighted;
};

static struct natural spread(struct natural from, double between)
{
    if (!(from.precision > 0.0))
        return (struct natural){0};
    const double precision = 1.0 / (1.0 / from.precision + between);
    return (struct natural){precision, from.weighted / from.precision * precision};
}

static struct stats_normal to_normal(struct natural n)
{
    if (!(n.precision > 0.0))
        return (struct stats_normal){0.0, (double)INFINITY};
    return (struct stats_normal){n.weighted / n.precision, 1.0 / n.precision};
}

static struct natural posterior(const struct stats_group *groups, size_t at)
{
    size_t path[STATS_MAX_LEVELS + 1];
    size_t length = 0;
    for (size_t i = at;; i = groups[i].parent) {
        path[length++] = i;
        if (groups[i].parent == i)
            break;
    }
    struct natural down = {0}; /* what the rest of the tree says of path[k] */
    for (size_t k = length; k-- > 1;) {
        const struct stats_group *group = &groups[path[k]];
        const struct stats_group *child = &groups[path[k - 1]];
        const struct stats_group own = message_of(child);
        const struct natural rest = {down.precision +
                                         fmax(group->below_precision - own.precision, 0.0),
                                     down.weighted + group->below_weighted - own.weighted};
        down = spread(rest, child->between);
    }
    return (struct natural){down.precision + groups[at].below_precision,
                            down.weighted + groups[at].below_weighted};
}

struct stats_normal stats_group_posterior(const struct stats_group *groups, size_t at)
{
    return to_normal(posterior(groups, at));
}

struct stats_normal stats_group_unseen(const struct stats_group *groups, size_t parent,
                                       double between)
{
    return to_normal(spread(posterior(groups, parent), between));
}

double stats_distance_variance(const double *differences, const double *variances,
                               const double *distances, size_t count, double prior,
                               double prior_count)
{
    double numerator = 0.0;
    double denominator = 0.0;
    double pairs = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double d2 = distances[i] * distances[i];
        /* The variance of a squared difference is twice the square of its expectation. */
        const double expected = fmax(variances[i] + prior * d2, LEAST_PAIR_VARIANCE);
        const double weight = 1.0 / (expected * expected);
        if (!(d2 > 0.0) || !isfinite(weight) || !isfinite(differences[i]))
            continue;
        numerator += weight * d2 * (differences[i] * differences[i] - variances[i]);
        denominator += weight * d2 * d2;
        pairs += 1.0;
    }
    const double learned = denominator > 0.0 ? numerator / denominator : 0.0;
    return towards(prior, prior_count, learned, pairs);
}

double stats_expected_gain(double mean, double sd)
{
    if (!(sd > 0.0))
        return fmax(mean, 0.0);
    const double z = mean / sd;
    const double density = exp(-0.5 * z * z) / sqrt(2.0 * 3.14159265358979323846);
    return fmax(mean * 0.5 * erfc(-z / sqrt(2.0)) + sd * density, 0.0);
}

#include "stats/uplift.h"

#include "base/err.h"
#include "base/rng.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

#define CONFIDENCE 0.95
enum { DEFAULT_ROUNDS = 400, LEAST_ROUNDS_USED = 50 };

/* Weighted sums of one cluster, or of a sample of them. */
struct sums {
    double shown_weight, shown_outcome, withheld_weight, withheld_outcome;
};

static void add(struct sums *to, const struct sums *from)
{
    to->shown_weight += from->shown_weight;
    to->shown_outcome += from->shown_outcome;
    to->withheld_weight += from->withheld_weight;
    to->withheld_outcome += from->withheld_outcome;
}

/* NaN where an arm is empty. */
static double effect_of(const struct sums *s)
{
    return s->shown_outcome / s->shown_weight - s->withheld_outcome / s->withheld_weight;
}

static bool is_usable(const struct stats_trial *t)
{
    return t->propensity > 0.0 && t->propensity < 1.0 && isfinite(t->outcome);
}

static void add_trial(struct sums *sums, const struct stats_trial *t)
{
    if (t->shown) {
        sums->shown_weight += 1.0 / t->propensity;
        sums->shown_outcome += t->outcome / t->propensity;
    } else {
        sums->withheld_weight += 1.0 / (1.0 - t->propensity);
        sums->withheld_outcome += t->outcome / (1.0 - t->propensity);
    }
}

/* Standard deviation of the effect over samples of clusters; a sample that lacks an arm is drawn
 * again, a few times. */
static double bootstrap_error(const struct sums *clusters, size_t count, unsigned rounds,
                              uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    double sum = 0.0;
    double squares = 0.0;
    double used = 0.0;
    for (unsigned round = 0; round < rounds; round++) {
        struct sums sample = {0};
        for (size_t i = 0; i < count; i++)
            add(&sample, &clusters[rng_below(&rng, count)]);
        const double effect = effect_of(&sample);
        if (!isfinite(effect))
            continue;
        sum += effect;
        squares += effect * effect;
        used += 1.0;
    }
    if (used < LEAST_ROUNDS_USED)
        return (double)INFINITY;
    const double mean = sum / used;
    return sqrt(fmax(squares / used - mean * mean, 0.0) * used / (used - 1.0));
}

/* Clusters with at least one usable trial move to the front. */
static size_t gather(struct sums *clusters, size_t count, struct stats_uplift *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (clusters[i].shown_weight <= 0.0 && clusters[i].withheld_weight <= 0.0)
            continue;
        out->clusters_shown += clusters[i].shown_weight > 0.0;
        out->clusters_withheld += clusters[i].withheld_weight > 0.0;
        clusters[kept++] = clusters[i];
    }
    return kept;
}

struct stats_uplift stats_uplift_estimate(const struct stats_trial *trials, size_t count,
                                          size_t cluster_count, unsigned rounds, uint64_t seed)
{
    struct stats_uplift out = {
        .error = (double)INFINITY, .low = -(double)INFINITY, .high = (double)INFINITY};
    struct sums all = {0};
    struct sums *clusters = calloc(cluster_count + 1, sizeof *clusters);
    if (!clusters)
        BUG("stats: out of memory");
    for (size_t i = 0; i < count; i++) {
        if (trials[i].cluster >= cluster_count)
            BUG("stats: cluster %zu of %zu", trials[i].cluster, cluster_count);
        if (!is_usable(&trials[i]))
            continue;
        add_trial(&clusters[trials[i].cluster], &trials[i]);
        out.shown += trials[i].shown;
        out.withheld += !trials[i].shown;
    }
    const size_t kept = gather(clusters, cluster_count, &out);
    for (size_t i = 0; i < kept; i++)
        add(&all, &clusters[i]);
    out.effect = effect_of(&all);
    const size_t scarce =
        out.clusters_shown < out.clusters_withheld ? out.clusters_shown : out.clusters_withheld;
    if (scarce >= 2 && kept >= 2) {
        const double k = (double)scarce;
        out.error = bootstrap_error(clusters, kept, rounds ? rounds : DEFAULT_ROUNDS, seed) *
                    sqrt(k / (k - 1.0));
        const double width =
            stats_student_quantile(0.5 + CONFIDENCE / 2.0, (unsigned)scarce - 1) * out.error;
        out.low = out.effect - width;
        out.high = out.effect + width;
    }
    free(clusters);
    return out;
}

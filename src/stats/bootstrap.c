#include "stats/stats.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DEFAULT_ROUNDS = 1000 };
static const double default_confidence = 0.95;

/* A value, where it stands among all values in order, and its cluster. */
struct sample {
    double value;
    int cluster;
    size_t rank;
};

/*
 * What the rounds draw from. The values are sorted once; a round then only counts how often it drew
 * each of them, and walks along the counts to the middle.
 */
struct resampler {
    size_t count;         /* values */
    const double *sorted; /* ascending */
    const size_t *ranks;  /* into `sorted`, cluster by cluster */
    const size_t *starts; /* of each cluster in `ranks`; one more at the end */
    size_t clusters;
    size_t *drawn; /* scratch: times that each rank was drawn in this round */
};

static int by_value(const void *a, const void *b)
{
    const struct sample *x = a;
    const struct sample *y = b;
    if (isnan(x->value) || isnan(y->value))
        return (isnan(x->value) != 0) - (isnan(y->value) != 0);
    return (x->value > y->value) - (x->value < y->value);
}

static int by_cluster(const void *a, const void *b)
{
    const struct sample *x = a;
    const struct sample *y = b;
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct resampler prepare(const double *values, const int *clusters, size_t count,
                                struct arena *arena)
{
    struct sample *samples = arena_array(arena, count, sizeof *samples);
    double *sorted = arena_array(arena, count, sizeof *sorted);
    size_t *ranks = arena_array(arena, count, sizeof *ranks);
    size_t *starts = arena_array(arena, count + 1, sizeof *starts);
    for (size_t i = 0; i < count; i++)
        samples[i] = (struct sample){.value = values[i], .cluster = clusters ? clusters[i] : 0};
    qsort(samples, count, sizeof *samples, by_value);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = samples[i].value;
        samples[i].rank = i;
    }
    qsort(samples, count, sizeof *samples, by_cluster);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        ranks[i] = samples[i].rank;
        if (i == 0 || samples[i].cluster != samples[i - 1].cluster)
            starts[found++] = i;
    }
    starts[found] = count;
    return (struct resampler){
        .count = count,
        .sorted = sorted,
        .ranks = ranks,
        .starts = starts,
        .clusters = found,
        .drawn = arena_array(arena, count, sizeof(size_t)),
    };
}

/* The value at place `at` (from 0) of those drawn; `*rank` and `*before` go on from the last call.
 */
static double drawn_at(const struct resampler *r, size_t at, size_t *rank, size_t *before)
{
    while (*before + r->drawn[*rank] <= at) {
        *before += r->drawn[*rank];
        (*rank)++;
    }
    return r->sorted[*rank];
}

/* `whole`: a cluster that is drawn gives the values that it has, not as many drawn from them. */
static double resampled_median(const struct resampler *r, bool whole, struct rng *rng)
{
    size_t total = 0;
    for (size_t i = 0; i < r->count; i++)
        r->drawn[i] = 0;
    for (size_t k = 0; k < r->clusters; k++) {
        const size_t cluster = (size_t)rng_below(rng, r->clusters);
        const size_t first = r->starts[cluster];
        const size_t size = r->starts[cluster + 1] - first;
        for (size_t i = 0; i < size; i++)
            r->drawn[r->ranks[first + (whole ? i : (size_t)rng_below(rng, size))]]++;
        total += size;
    }
    size_t rank = 0;
    size_t before = 0;
    const double lower = drawn_at(r, (total - 1) / 2, &rank, &before);
    const double upper = drawn_at(r, total / 2, &rank, &before);
    return lower * 0.5 + upper * 0.5;
}

struct stats_interval stats_cluster_median(const double *values, const int *clusters, size_t count,
                                           double confidence, unsigned rounds, uint64_t seed)
{
    if (!(confidence >= 0.0 && confidence < 1.0))
        BUG("stats: confidence %g", confidence);
    if (count == 0)
        return (struct stats_interval){nan(""), nan(""), nan(""), 0};
    CLEANUP(arena_free) struct arena arena = {0};
    const size_t n = rounds ? rounds : DEFAULT_ROUNDS;
    const struct resampler resampler = prepare(values, clusters, count, &arena);
    struct rng rng = rng_seeded(seed);
    double *own = arena_memdup(&arena, resampler.sorted, count * sizeof *own);
    const double mid = stats_median(own, count);
    if (resampler.clusters < 2)
        return (struct stats_interval){mid, -HUGE_VAL, HUGE_VAL, count};
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double off = resampled_median(&resampler, true, &rng) - mid;
        squares += off * off;
    }
    const double k = (double)resampler.clusters;
    const double error = sqrt(squares / (double)n * k / (k - 1.0));
    const double inside = confidence > 0.0 ? confidence : default_confidence;
    const double t = stats_student_quantile(0.5 + inside / 2.0, (unsigned)(resampler.clusters - 1));
    return (struct stats_interval){mid, mid - t * error, mid + t * error, count};
}

double stats_look_confidence(double confidence, unsigned looks)
{
    if (looks == 0)
        BUG("stats: no looks");
    return 1.0 - (1.0 - confidence) / (double)looks;
}

struct stats_interval stats_bootstrap_median(const double *values, const int *clusters,
                                             size_t count, double confidence, unsigned rounds,
                                             uint64_t seed)
{
    if (!(confidence >= 0.0 && confidence < 1.0))
        BUG("stats: confidence %g", confidence);
    if (count == 0)
        return (struct stats_interval){nan(""), nan(""), nan(""), 0};
    CLEANUP(arena_free) struct arena arena = {0};
    const size_t n = rounds ? rounds : DEFAULT_ROUNDS;
    const double outside = 1.0 - (confidence > 0.0 ? confidence : default_confidence);
    const struct resampler resampler = prepare(values, clusters, count, &arena);
    struct rng rng = rng_seeded(seed);
    double *medians = arena_array(&arena, n, sizeof *medians);
    for (size_t i = 0; i < n; i++)
        medians[i] = resampled_median(&resampler, false, &rng);

    double *own = arena_memdup(&arena, resampler.sorted, count * sizeof *own);
    const double mid = stats_median(own, count);
    const double low = stats_quantile(medians, n, outside / 2.0);
    const double high = stats_quantile(medians, n, 1.0 - outside / 2.0);
    /* The median of all values can lie outside where clusters differ much in size. */
    return (struct stats_interval){mid, fmin(low, mid), fmax(high, mid), count};
}

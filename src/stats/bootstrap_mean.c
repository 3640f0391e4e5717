#include "stats/stats.h"

#include "base/err.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

enum { DEFAULT_ROUNDS = 2000 };
static const double default_confidence = 0.95;

struct stats_interval stats_bootstrap_mean(const double *values, size_t count, double confidence,
                                           unsigned rounds, uint64_t seed)
{
    const double mean = stats_mean(values, count);
    const double tail = (1.0 - (confidence > 0.0 ? confidence : default_confidence)) / 2.0;
    struct rng rng = rng_seeded(seed);
    rounds = rounds > 0 ? rounds : DEFAULT_ROUNDS;
    if (count == 0)
        return (struct stats_interval){(double)NAN, (double)NAN, (double)NAN, 0};
    double *means = calloc(rounds, sizeof *means);
    if (!means)
        BUG("out of memory");
    for (unsigned r = 0; r < rounds; r++) {
        double sum = 0.0;
        for (size_t i = 0; i < count; i++)
            sum += values[rng_below(&rng, count)];
        means[r] = sum / (double)count;
    }
    const struct stats_interval out = {.mid = mean,
                                       .low = fmin(mean, stats_quantile(means, rounds, tail)),
                                       .high =
                                           fmax(mean, stats_quantile(means, rounds, 1.0 - tail)),
                                       .count = count};
    free(means);
    return out;
}

#include "gate/estimate.h"

#include <math.h>

enum { ROUNDS = 400 /* of the bootstrap */ };

/* Nominal: intervals from a few processes miss up to twice as often as they say, so these add up to
 * less than 5 %; the simulation in the test holds all paths together to 5 %. Early looks are for
 * what is clear; most series end by time. */
static const double look_error[LOOKS] = {0.0015, 0.0015, 0.003, 0.005, 0.018};

double look_confidence(size_t look, bool is_last)
{
    double error = look_error[look];
    for (size_t later = look + 1; is_last && later < LOOKS; later++)
        error += look_error[later];
    return 1.0 - error;
}

/* Half of what the order does to log(baseline / candidate): half the difference of the medians of
 * both orders, 0 where there is only one. */
static double order_effect(const struct timed_pair *pairs, const double *ratios, size_t count)
{
    double by_order[2][MOST_PAIRS];
    size_t counts[2] = {0};
    for (size_t i = 0; i < count; i++)
        by_order[pairs[i].baseline_first][counts[pairs[i].baseline_first]++] = ratios[i];
    if (counts[0] == 0 || counts[1] == 0)
        return 0;
    return (stats_median(by_order[1], counts[1]) - stats_median(by_order[0], counts[0])) / 2;
}

struct stats_interval pairs_interval(const struct timed_pairs *all, double confidence,
                                     uint64_t seed)
{
    double ratios[MOST_PAIRS];
    int processes[MOST_PAIRS];
    for (size_t i = 0; i < all->count; i++) {
        ratios[i] = log(all->pair[i].baseline_ns / all->pair[i].candidate_ns);
        processes[i] = all->pair[i].process;
    }
    const double effect = order_effect(all->pair, ratios, all->count);
    for (size_t i = 0; i < all->count; i++)
        ratios[i] -= all->pair[i].baseline_first ? effect : -effect;
    return stats_cluster_median(ratios, processes, all->count, confidence, ROUNDS, seed);
}

/* --- noise ----------------------------------------------------------------------------------- */

/* From one sample of the baseline to the next. */
struct steps {
    double by[MOST_PAIRS];
    int process[MOST_PAIRS];
    size_t count;
};

enum { FEWEST_STEPS = 8, FEWEST_PROCESSES = 5 };

/* Of samples that follow each other directly (second in its pair, then first), which are as near as
 * those of a pair; `all`: of all neighbours, in different processes too. */
static void find_steps(const struct timed_pairs *pairs, bool all, struct steps *out)
{
    double scratch[MOST_PAIRS];
    out->count = 0;
    for (size_t i = 1; i < pairs->count; i++) {
        const struct timed_pair *a = &pairs->pair[i - 1], *b = &pairs->pair[i];
        if (!all && (a->process != b->process || a->baseline_first || !b->baseline_first))
            continue;
        out->by[out->count] = log(b->baseline_ns / a->baseline_ns);
        out->process[out->count++] = b->process;
    }
    if (all || out->count == 0)
        return;
    /* What the order does is the same in each of them. */
    for (size_t i = 0; i < out->count; i++)
        scratch[i] = out->by[i];
    const double effect = stats_median(scratch, out->count);
    for (size_t i = 0; i < out->count; i++)
        out->by[i] -= effect;
}

/* Error of the median of the steps, by the spread of single ones, and by process. */
static double error_by_step(const struct steps *steps)
{
    double scratch[MOST_PAIRS];
    return 1.4826 * stats_mad(steps->by, steps->count, scratch) * 1.2533 /
           sqrt((double)steps->count);
}

static double error_by_process(const struct steps *steps, uint64_t seed)
{
    static const double confidence = 0.95;
    unsigned processes = 1;
    for (size_t i = 1; i < steps->count; i++)
        processes += steps->process[i] != steps->process[i - 1];
    if (processes < FEWEST_PROCESSES)
        return 0;
    const struct stats_interval interval =
        stats_cluster_median(steps->by, steps->process, steps->count, confidence, ROUNDS, seed);
    return (interval.high - interval.mid) /
           stats_student_quantile(0.5 + confidence / 2, processes - 1);
}

bool interval_says_nothing(const struct stats_interval *interval)
{
    /* 28 % either way, or an eighth of the effect's logarithm: the latter from seven times on, for
     * candidates whose baseline takes seconds, where five pairs leave little more. */
    const double wide = 0.25, wide_of_effect = 1.0 / 8;
    const double half_width = (interval->high - interval->low) / 2;
    return !(half_width <= fmax(wide, wide_of_effect * fabs(interval->mid)));
}

double pairs_noise(const struct timed_pairs *all, uint64_t seed)
{
    struct steps steps;
    find_steps(all, false, &steps);
    if (steps.count < FEWEST_STEPS)
        find_steps(all, true, &steps);
    if (steps.count == 0)
        return 0;
    /* There are fewer of them than pairs. */
    const double more = sqrt((double)steps.count / (double)all->count);
    return more * fmax(error_by_step(&steps), error_by_process(&steps, seed));
}

/* --- times ----------------------------------------------------------------------------------- */

static int64_t median_ns(const struct timed_pairs *all, bool baseline)
{
    double times[MOST_PAIRS];
    for (size_t i = 0; i < all->count; i++)
        times[i] = baseline ? all->pair[i].baseline_ns : all->pair[i].candidate_ns;
    return all->count ? (int64_t)(stats_median(times, all->count) + 0.5) : 0;
}

int64_t pairs_baseline_ns(const struct timed_pairs *all)
{
    return median_ns(all, true);
}

int64_t pairs_candidate_ns(const struct timed_pairs *all)
{
    return median_ns(all, false);
}

#include "propose/belief.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>

/* In log-ratio: the spread around a prior, wider for a move that can do much; the narrowest that is
 * believed; what an evaluation is worth that times nothing. */
#define PRIOR_SD 0.15
#define PRIOR_SD_SHARE 0.4
#define LEAST_SD 0.01
#define FAILURE_COST 0.1
#define INTERVAL_95 1.96

static struct move_belief prior_of(const struct move *move)
{
    return (struct move_belief){.move = move->name,
                                .mean = move->prior_log_ratio,
                                .sd = PRIOR_SD + PRIOR_SD_SHARE * fabs(move->prior_log_ratio)};
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static struct move_belief believe(const struct move_belief *all, size_t count,
                                  const struct move *move)
{
    struct move_belief belief = prior_of(move);
    for (size_t i = 0; i < count; i++) {
        const struct move_belief *given = &all[i];
        if (!str_equal(given->move, move->name))
            continue;
        if (isfinite(given->mean))
            belief.mean = given->mean;
        if (isfinite(given->sd) && given->sd >= 0.0)
            belief.sd = fmax(given->sd, LEAST_SD);
        if (isfinite(given->failure_rate))
            belief.failure_rate = clamp(given->failure_rate, 0.0, 1.0);
        if (isfinite(given->evidence))
            belief.evidence = fmax(given->evidence, 0.0);
        break;
    }
    return belief;
}

struct move_belief *beliefs_for(const struct propose_request *request, bool is_restart,
                                const struct move *catalogue, size_t count, struct arena *arena)
{
    const struct move_belief *all =
        is_restart && request->restart_beliefs ? request->restart_beliefs : request->beliefs;
    struct move_belief *beliefs = arena_array(arena, count + 1, sizeof *beliefs);
    for (size_t i = 0; i < count; i++)
        beliefs[i] = believe(all, request->belief_count, &catalogue[i]);
    return beliefs;
}

double *beliefs_draw(const struct move_belief *beliefs, size_t count, struct rng *rng,
                     struct arena *arena)
{
    double *draws = arena_array(arena, count + 1, sizeof *draws);
    for (size_t i = 0; i < count; i++) {
        const double gain = beliefs[i].mean + beliefs[i].sd * rng_normal(rng);
        /* A failure turns a gain into nothing, never a loss into less of one. */
        const double kept = gain > 0.0 ? gain * (1.0 - beliefs[i].failure_rate) : gain;
        draws[i] = kept - beliefs[i].failure_rate * FAILURE_COST;
    }
    return draws;
}

struct ranked {
    double draw;
    size_t move;
};

static int by_draw(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->draw != y->draw)
        return x->draw > y->draw ? -1 : 1;
    return x->move < y->move ? -1 : x->move > y->move;
}

size_t *beliefs_rank(const double *draws, size_t count, struct arena *arena)
{
    struct ranked *ranked = arena_array(arena, count + 1, sizeof *ranked);
    size_t *order = arena_array(arena, count + 1, sizeof *order);
    for (size_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){draws[i], i};
    qsort(ranked, count, sizeof *ranked, by_draw);
    for (size_t i = 0; i < count; i++)
        order[i] = ranked[i].move;
    return order;
}

double beliefs_expected(const struct move_belief *beliefs, const size_t *moves, size_t count)
{
    double largest = 0.0;
    double gains = 0.0;
    double losses = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double mean = beliefs[moves[i]].mean;
        if (mean < 0.0)
            losses += mean;
        else
            gains += mean;
        largest = fmax(largest, mean);
    }
    return largest + 0.5 * (gains - largest) + losses;
}

const char *belief_sentence(const struct move_belief *belief, const struct move *move,
                            struct arena *arena)
{
    const char *expected = arena_printf(
        arena, "%s: %.2fx expected [%.2f, %.2f]", move->intent, exp(belief->mean),
        exp(belief->mean - INTERVAL_95 * belief->sd), exp(belief->mean + INTERVAL_95 * belief->sd));
    if (belief->evidence <= 0.0)
        return arena_printf(arena, "%s from its prior alone, nothing is known of it here",
                            expected);
    return arena_printf(arena, "%s from %.3g decision%s, %.0f %% of which failed", expected,
                        belief->evidence, fabs(belief->evidence - 1.0) < 1e-9 ? "" : "s",
                        100.0 * belief->failure_rate);
}

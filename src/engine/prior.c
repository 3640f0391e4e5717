#include "engine/internal.h"

#include <math.h>

enum { BEST_MOVES = 3 };
/* Experience counts as at most so many steps of this run. */
#define MOST_WEIGHT 8.0

/* What a small step (one move) and a large one (a few) should gain by what is believed of moves;
 * a move that follows another helps with what is left. */
static struct search_prior prior_of(const struct move_belief *beliefs, size_t count)
{
    struct search_prior prior = {0};
    double best[BEST_MOVES] = {0};
    for (size_t i = 0; i < count; i++) {
        double gain = fmax(0.0, beliefs[i].mean) * (1.0 - beliefs[i].failure_rate);
        if (!(beliefs[i].evidence > 0.0))
            continue;
        prior.weight += beliefs[i].evidence;
        for (size_t k = 0; k < BEST_MOVES; k++) {
            if (gain <= best[k])
                continue;
            const double smaller = best[k];
            best[k] = gain;
            gain = smaller;
        }
    }
    prior.weight = fmin(prior.weight, MOST_WEIGHT);
    prior.small_gain = best[0];
    prior.large_gain = best[0] + 0.5 * (best[1] + best[2]);
    return prior;
}

bool prior_choose(struct run *run, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct move_belief *beliefs = NULL;
    size_t count = 0;
    if (run->has_prior || run->is_driven)
        return true;
    if (!remember_beliefs(run, &arena, &beliefs, &count, err))
        return false;
    run->prior = prior_of(beliefs, count);
    run->has_prior = true;
    return true;
}

void prior_write(const struct search_prior *prior, struct json_writer *w)
{
    json_key(w, "search_prior");
    json_begin_array(w);
    json_write_real(w, prior->small_gain);
    json_write_real(w, prior->large_gain);
    json_write_real(w, prior->weight);
    json_end_array(w);
}

struct search_prior prior_read(const struct json *settings)
{
    const struct json *prior = json_get(settings, "search_prior");
    return (struct search_prior){.small_gain = json_real(json_at(prior, 0), 0.0),
                                 .large_gain = json_real(json_at(prior, 1), 0.0),
                                 .weight = json_real(json_at(prior, 2), 0.0)};
}

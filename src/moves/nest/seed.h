/*
 * Longer sequences for nests that are no single perfect band: sums with borders (convolutions),
 * rows of several passes around sums (attention), sums that read against the order of memory. Each
 * is built step by step on the nest at hand; a step that is refused is left out or ends its
 * sequence. Names are stable and hold sizes, never names of the nest: experience goes from task to
 * task by them. Inside moves only.
 */
#ifndef KOPE_MOVES_NEST_SEED_H
#define KOPE_MOVES_NEST_SEED_H

#include "moves/nest_move.h"

enum { NEST_MAX_SEEDS = 12 };

struct nest_seed {
    const char *name, *intent, *steps;
    double prior_log_ratio;
};

/* Best first; how many, at most NEST_MAX_SEEDS. None twice, none without steps. None
 * for more than NEST_MAX_GROWN_LOOPS loops. */
size_t nest_seeds(const struct nest *nest, const struct nest_target *target, struct arena *arena,
                  struct nest_seed out[NEST_MAX_SEEDS]);

#endif

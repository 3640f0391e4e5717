/*
 * What a nest looks like, as sequences of steps worth trying first: vectors over what is
 * elementwise or a reduction of rows, register tiles with packing over contractions. Suggestions
 * and no templates: each is built step by step on the nest at hand, and a step that is refused
 * ends or leaves out its sequence. Names are stable and hold the sizes ("nest-tile-8x2": rows by
 * vectors), never names of the nest: experience goes from task to task by them. Pure.
 */
#ifndef KOPE_MOVES_NEST_PATTERN_H
#define KOPE_MOVES_NEST_PATTERN_H

#include "moves/nest_move.h"

enum { NEST_MAX_PATTERNS = 40 };

struct nest_pattern {
    const char *name, *intent, *steps;
    double prior_log_ratio;
    bool is_exact; /* no result changes */
};

/* Best first; at most NEST_MAX_PATTERNS, none with the same steps as an earlier one. None
 * for more than NEST_MAX_GROWN_LOOPS loops. */
size_t nest_patterns(const struct nest *nest, const struct nest_target *target, struct arena *arena,
                     struct nest_pattern *out);

#endif

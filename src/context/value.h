/*
 * What the items of prompts were worth: a small share is withheld at random, and what decisions
 * gained with and without them is compared (stats/uplift.h). By kind of item, and by item, drawn
 * towards its kind by as much as items of it differ. The gain of a decision is that over its parent
 * in log-ratio, 0 where the candidate is slower or failed, less what other runs of the task gained
 * in the mean.
 */
#ifndef KOPE_CONTEXT_VALUE_H
#define KOPE_CONTEXT_VALUE_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/graph.h"
#include "stats/uplift.h"

#include <stdbool.h>
#include <stddef.h>

/* Runs with something withheld that an estimate needs. */
enum { CONTEXT_VALUE_LEAST_RUNS = 5 };

struct context_worth {
    const char *kind, *ref; /* ref "": of the kind as a whole */
    struct stats_uplift raw;
    double tokens;            /* mean of the item */
    double effect, low, high; /* of an item: after shrinking; at 95 % */
    bool is_known;            /* there is enough to say anything */
    double runs_wanted; /* in all, of such runs, for an interval of +-0.05; infinite: unknown */
};

struct context_value {
    size_t decisions, runs, trials;
    bool is_cut; /* only the newest runs were looked at */
    const struct context_worth *kinds;
    size_t kind_count;
    const struct context_worth *items; /* that something is known of, best lower end first */
    size_t item_count;
    size_t unknown_items;
};

bool context_value(struct graph *graph, struct arena *arena, struct context_value *out,
                   struct err *err);

/* As text: a table of kinds, of at most `limit` items, and what is wanting. */
char *context_value_text(const struct context_value *value, size_t limit, struct arena *arena);

#endif

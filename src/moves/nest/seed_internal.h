/* Inside seed*.c: the list that sequences are added to. */
#ifndef KOPE_MOVES_NEST_SEED_INTERNAL_H
#define KOPE_MOVES_NEST_SEED_INTERNAL_H

#include "moves/nest/growth.h"
#include "moves/nest/seed.h"

struct seeds {
    struct growth start;
    const struct nest *original; /* with unique names, before any step */
    struct nest_seed *out;
    size_t count;
};

/* Adds what has grown, where it has steps, is new, and there is room. */
void seeds_add(struct seeds *seeds, const struct growth *g, const char *name, const char *intent,
               double prior);

/* The first loop that sums against the order of memory; false where there is none. */
bool seeds_first_sum(const struct nest *nest, struct contraction *out);

/* Sums over several loops, as of convolutions: vectors along the loop that shares most. */
void seeds_add_across(struct seeds *seeds);

/* Sums with borders: a padded copy in the place of the conditions. */
void seeds_add_padded(struct seeds *seeds);

#endif

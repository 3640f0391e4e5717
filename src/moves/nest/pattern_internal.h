/* Inside pattern*.c: the list that sequences are added to. */
#ifndef KOPE_MOVES_NEST_PATTERN_INTERNAL_H
#define KOPE_MOVES_NEST_PATTERN_INTERNAL_H

#include "moves/nest/growth.h"
#include "moves/nest/pattern.h"

struct patterns {
    const struct nest *nest;
    const struct nest_target *target;
    struct arena *arena;
    struct nest_pattern *out;
    size_t count;
    int64_t lanes; /* of a vector of the task's reals */
};

/* No step yet. */
struct growth patterns_begin(const struct patterns *p);
/* Adds what has grown, where it has steps, is new, and there is room. */
void patterns_add(struct patterns *p, const struct growth *g, const char *name, const char *intent,
                  double prior);
/* Every loop over neighbours that takes it in vectors, so many rounds at once; how many. */
size_t patterns_vectorize(struct growth *g, int64_t rounds);

/* Loops over time steps: strips that stay in a cache for several of them. */
void patterns_add_time(struct patterns *p);

#endif

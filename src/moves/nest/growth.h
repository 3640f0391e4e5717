/* A sequence as it grows, and what its next step needs to know of the nest. Inside moves/nest. */
#ifndef KOPE_MOVES_NEST_GROWTH_H
#define KOPE_MOVES_NEST_GROWTH_H

#include "moves/nest/edit.h"

struct growth {
    struct nest_target target;
    struct arena *arena;
    const struct nest *now;
    const char *steps; /* NULL: none yet */
    int64_t lanes;     /* of a vector; 0: none */
};

/* Takes the step where it applies; else nothing changes, and false. */
bool grow(struct growth *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct names {
    const char *items[64];
    size_t count;
};

/* Of all loops, outer ones first. */
struct names names_of_loops(const struct nest *nest);
/* Of the variables and arrays that the body of the loop declares. */
struct names names_declared_in(const struct nest *nest, const char *loop);

/* A loop that sums: `outer` declares variables, `sum` (the first loop in its body) adds to them. */
struct contraction {
    const struct nest_stmt *outer, *sum;
    const struct nest_stmt *inner; /* the innermost of the loops that sum */
};
bool find_contraction(const struct nest_stmt *loop, struct contraction *out);
/* Would the loops that sum read memory in less order than the one around them? */
bool contraction_should_turn(const struct contraction *c);
/* The loop around whose rounds read most in common for one round of `outer`; NULL. */
const struct nest_stmt *contraction_sharer(const struct nest *nest, const struct contraction *c);
/* An array in the sum that depends on the loop `sharer` and not on `outer`; NULL. */
const struct nest_symbol *contraction_shared_array(const struct contraction *c,
                                                   const struct nest_stmt *sharer);

/* How many conditions stand in the loop; 0 where there is no such loop. */
size_t count_conditions_in(const struct nest *nest, const char *loop);
/* Peels the borders of the named loops, where what is left of them then asks less. Not of loops
 * over a few fixed places. */
void peel_borders(struct growth *g, const struct names *loops);
/* The copy that pack() has just put into the loop (is_in_front: in front of it), where it reads
 * across memory: squares of it are turned in registers. Where it is none such, nothing changes. */
void turn_copy(struct growth *g, const char *loop, bool is_in_front);
/* Scratch arrays of the function belong to the rounds of the loops that use them. */
void privatize_all(struct growth *g);

#endif

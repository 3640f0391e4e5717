/* Time loops: rounds that go over the same arrays again. Inside moves/nest. */
#ifndef KOPE_MOVES_NEST_SWEEP_H
#define KOPE_MOVES_NEST_SWEEP_H

#include "moves/nest_move.h"

enum { NEST_MAX_SWEEPS = 16 };

struct nest_sweeps {
    const struct nest_stmt *first; /* the outermost loop of the first sweep */
    size_t count;
};

/* The body of `time` is loops only, which write an array that they read as well, and no subscript
 * names the counter: each round is a time step. Braces are looked through. */
bool nest_find_sweeps(const struct nest_stmt *time, struct nest_sweeps *out);

#endif

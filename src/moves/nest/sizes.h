/*
 * Numbers in a sequence of steps: the search for sizes once a structure is found.
 *
 * A *change of size* takes a sequence and gives the same one with one size larger or smaller:
 * "taller-tile" makes regtile(i:8,j:32) a tile of 10 rows, "wider-tile" one of 48 columns, with the
 * strip of j that belongs to it. Names hold no numbers and no names of a nest, so that what a
 * change gained is experience for other tasks and this machine. Whether the new sequence applies,
 * nest_apply says. Inside moves only.
 */
#ifndef KOPE_MOVES_NEST_SIZES_H
#define KOPE_MOVES_NEST_SIZES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nest_size_change {
    const char *name, *intent;
};

/* The one of that number, in the order in which they are worth trying; NULL beyond the last. */
const struct nest_size_change *nest_size_change(size_t number);

/* Of the target: lanes of a vector of the task's type and of 32 bits (what dot adds up in), and how
 * many registers hold vectors. */
struct nest_vectors {
    int64_t lanes, sums, registers;
};

/* The sequence with another size, in `*out`. False with the refusal in words: there is no such
 * change, no step has such a size, it ends there, or a tile would not fit the registers. */
bool nest_resize(const char *steps, const char *name, const struct nest_vectors *vectors,
                 struct arena *arena, const char **out, const char **refusal);

#endif

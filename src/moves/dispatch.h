/*
 * One source of two: the entry point chooses by a condition over the axes which of the two does the
 * work. For candidates of which one is better at small sizes and the other at large ones
 * (search/regime.h). Both texts are taken as they are, by their tokens: what they define at the top
 * level under one name but differently has `_small` and `_large` behind it, what both define alike
 * stands once, and what stands in strings and comments is left alone. Pure.
 */
#ifndef KOPE_MOVES_DISPATCH_H
#define KOPE_MOVES_DISPATCH_H

#include "base/arena.h"
#include "task/task.h"

#include <stdbool.h>

struct dispatch_part {
    const char *source; /* defines the task's entry point */
    const char *words;  /* for the comment on it: how it was made; "" */
};

struct dispatch_parts {
    const struct task *task;
    const char *condition;             /* "m * n <= 4096": in C, over the task's axes */
    struct dispatch_part small, large; /* where it holds, and where it does not */
};

/* The name of the move that such a candidate is made by. */
#define DISPATCH_MOVE "dispatch"

/* False with the refusal in words where the two do not go into one text: a pragma outside of
 * functions would be of both, a macro pastes a name that both have, a bracket does not close. */
bool dispatch_source(const struct dispatch_parts *parts, struct arena *arena, const char **out,
                     const char **refusal);

#endif

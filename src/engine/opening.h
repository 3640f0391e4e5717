/* What won on other tasks, as sequences of moves played on this task. */
#ifndef KOPE_ENGINE_OPENING_H
#define KOPE_ENGINE_OPENING_H

#include "engine/internal.h"

enum { OPENING_MAX_MOVES = 16 };

struct opening {
    const struct recipe *recipe; /* here */
    const char *text;            /* of the recipe */
    const char
        *moves[OPENING_MAX_MOVES]; /* those that apply here; none: it is a recipe as it was */
    size_t move_count;
    const struct graph_decision *from; /* the nearest winner that comes to it */
    size_t votes;                      /* winners that do */
    double promise;                    /* in log-ratio, by which they are ordered */
    double expected;                   /* gain here, in log-ratio */
};

/* The winners `related`, nearest first, as openings of this task: none twice, none that changes
 * nothing, the one that promises most first; those that do the same to the nest as an earlier one
 * after all that do not. */
bool openings_find(struct run *run, const struct graph_decisions *related, struct arena *arena,
                   const struct opening **out, size_t *out_count, struct err *err);

#endif

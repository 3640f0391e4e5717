/* Inside engine/: what a move is worth where another of its group is in place. */
#ifndef KOPE_ENGINE_RIVALS_H
#define KOPE_ENGINE_RIVALS_H

#include "engine/internal.h"

/* Reads the runs of related tasks' winners, once in a run; rivals_close frees what it read. */
bool rivals_open(struct run *run, struct err *err);
void rivals_close(struct rivals **rivals);

/* The moves that made a candidate, as words: its own, else, for one that was made of a decision of
 * another run as it stood, those on the way to that. */
bool rivals_moves(struct run *run, const char *moves, const char *derived_from, const char **out,
                  struct err *err);

/* Changes what is believed of moves of which a rival is in place at the node; `beliefs` are one for
 * each move of the catalogue, in its order. */
bool rivals_believe(struct run *run, int node, struct arena *arena, struct move_belief *beliefs,
                    size_t count, struct err *err);

/* What each move of the catalogue gains, in its order, as far as moves of one group can be
 * compared: by what is read off the loops at hand, and by how candidates of related tasks differed.
 * The others keep what is read off. */
bool rivals_effects(struct run *run, struct arena *arena, const double **out, struct err *err);

/* The sum of `effects` over what is in place after these moves of the catalogue. */
double rivals_sum(const struct run *run, const double *effects, const char *const *moves,
                  size_t count);

#endif

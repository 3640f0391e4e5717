/* Inside engine/: what a move is worth where another of its group is in place. */
#ifndef KOPE_ENGINE_RIVALS_H
#define KOPE_ENGINE_RIVALS_H

#include "engine/internal.h"

/* Reads the runs of related tasks' winners, once in a run; rivals_close frees what it read. */
bool rivals_open(struct run *run, struct err *err);
void rivals_close(struct rivals **rivals);

/* Changes what is believed of moves of which a rival is in place at the node; `beliefs` are one for
 * each move of the catalogue, in its order. */
bool rivals_believe(struct run *run, int node, struct arena *arena, struct move_belief *beliefs,
                    size_t count, struct err *err);

/* By move of the catalogue, in its order. */
struct rivals_effects {
    /* Log-ratios, as far as moves of one group can be compared: by what is read off the loops at
     * hand, and by how candidates of related tasks differed, those of other families a tenth as
     * much. The others keep what is read off. */
    const double *gains;
    const double *weights; /* rows that say something of it */
};

bool rivals_effects(struct run *run, struct arena *arena, struct rivals_effects *out,
                    struct err *err);

/* What is promised by what is in place after these moves, of the catalogue: the sum of their gains.
 * Beside a move on the whole nest, those that are to let plain loops run on vectors count by how
 * they differ from their rivals alone. */
double rivals_sum(const struct run *run, const struct rivals_effects *effects, const int *moves,
                  size_t count);

#endif

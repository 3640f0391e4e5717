/*
 * What is believed of moves, and what a draw from it says to try: Thompson sampling over normal
 * posteriors of the gain in log-ratio (W. R. Thompson, Biometrika 25, 1933). A move is as likely to
 * be chosen as it is believed to be the best; one that nothing is known of is believed in widely.
 */
#ifndef KOPE_PROPOSE_BELIEF_H
#define KOPE_PROPOSE_BELIEF_H

#include "base/arena.h"
#include "base/rng.h"
#include "propose/propose.h"

#include <stddef.h>

/* A belief for each move of the catalogue, in its order, from the parent or from the plain recipe
 * (a restart): the one that the request gives, else the move's prior with a wide spread. Numbers
 * that are none are replaced. */
struct move_belief *beliefs_for(const struct propose_request *request, bool is_restart,
                                const struct move *catalogue, size_t count, struct arena *arena);

/* A draw for each move, in log-ratio, less what a failure costs; all moves are drawn, whether they
 * apply or not, so that a draw depends on the seed only. */
double *beliefs_draw(const struct move_belief *beliefs, size_t count, struct rng *rng,
                     struct arena *arena);

/* Indices 0 .. count - 1, best draw first; equal draws in the catalogue's order. */
size_t *beliefs_rank(const double *draws, size_t count, struct arena *arena);

/* Expected gain of moves together: the largest gain and half of each other one, since moves that
 * help on their own help with the same thing more often than not; losses count in full. */
double beliefs_expected(const struct move_belief *beliefs, const size_t *moves, size_t count);

/* "reassociate float sums: 1.35x expected [1.10, 1.66] from 12 decisions, 8 % of which failed". */
const char *belief_sentence(const struct move_belief *belief, const struct move *move,
                            struct arena *arena);

#endif

/*
 * The moves of the catalogue as skills that are shipped: what each is good for is known, that it
 * pays on this machine is not. Candidates, until a trial here says more.
 */
#ifndef KOPE_SKILL_SEEDS_H
#define KOPE_SKILL_SEEDS_H

#include "moves/moves.h"
#include "skill/skill.h"

/* One for each move; all fields set. */
void skill_seeds(const struct move *moves, size_t count, struct arena *arena,
                 struct graph_skill **out);

#endif

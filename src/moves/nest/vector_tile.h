/* Cutting loops into tiles that vector_expand then makes one round each. Inside moves only. */
#ifndef KOPE_MOVES_NEST_VECTOR_TILE_H
#define KOPE_MOVES_NEST_VECTOR_TILE_H

#include "moves/nest/edit.h"
#include "moves/nest/vector.h"

/* Each loop is cut by its factor, and what is left over gets smaller tiles: a single vector, a
 * single round, and less than a vector stays as it was. */
bool vector_cut(struct nest_edit *edit, const struct vector_tiles *tiles, const char **refusal);

#endif

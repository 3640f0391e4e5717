/* Cutting loops into tiles that vector_expand then makes one round each. Inside moves only. */
#ifndef KOPE_MOVES_NEST_VECTOR_TILE_H
#define KOPE_MOVES_NEST_VECTOR_TILE_H

#include "moves/nest/edit.h"
#include "moves/nest/vector.h"

/* Each loop is cut by its factor. Rounds that are left over are done by a tile that ends with the
 * last round and does some again, where there are enough rounds, where that changes nothing, and
 * where no other thread does them; else by smaller tiles behind: a single vector, a single round,
 * and less than a vector stays as it was. False with the refusal: the loops do not hang in each
 * other, or one of them is collapsed with others by OpenMP. */
bool vector_cut(struct nest_edit *edit, const struct vector_tiles *tiles, const char **refusal);

#endif

/* The visible table of moves on nests. */
#include "moves/nest/move.h"

#include "base/str.h"

/* In the order in which they are worth trying. */
static const struct nest_move *const moves[] = {
    /* loops that change places or shape */
    &nest_move_interchange,
    &nest_move_tile,
    &nest_move_skew,
    &nest_move_jam,
    &nest_move_distribute,
    &nest_move_fuse,
    &nest_move_coalesce,
    &nest_move_peel,
    &nest_move_unswitch,
    &nest_move_reverse,
    &nest_move_strip,
    &nest_move_unroll,
    &nest_move_streams,
    &nest_move_restrict,
    /* where values live */
    &nest_move_accumulate,
    &nest_move_expand,
    &nest_move_privatize,
    &nest_move_promote,
    /* vectors and the machine */
    &nest_move_regtile,
    &nest_move_vectorize,
    &nest_move_dot,
    &nest_move_pack,
    &nest_move_pad,
    &nest_move_reciprocal,
    &nest_move_argmax,
    &nest_move_transpose,
    &nest_move_pin,
    &nest_move_prefetch,
    &nest_move_stream,
};

const struct nest_move *const *nest_moves(size_t *count)
{
    *count = sizeof moves / sizeof *moves;
    return moves;
}

const struct nest_move *nest_move_find(const char *name)
{
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (str_equal(moves[i]->name, name))
            return moves[i];
    }
    return NULL;
}

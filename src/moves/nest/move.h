/* The moves on nests, one file each; registry.c lists them. Inside moves only. */
#ifndef KOPE_MOVES_NEST_MOVE_ROWS_H
#define KOPE_MOVES_NEST_MOVE_ROWS_H

#include "moves/nest_move.h"

extern const struct nest_move nest_move_accumulate;
extern const struct nest_move nest_move_argmax;
extern const struct nest_move nest_move_coalesce;
extern const struct nest_move nest_move_distribute;
extern const struct nest_move nest_move_dot;
extern const struct nest_move nest_move_expand;
extern const struct nest_move nest_move_fuse;
extern const struct nest_move nest_move_interchange;
extern const struct nest_move nest_move_jam;
extern const struct nest_move nest_move_pack;
extern const struct nest_move nest_move_pad;
extern const struct nest_move nest_move_peel;
extern const struct nest_move nest_move_pin;
extern const struct nest_move nest_move_prefetch;
extern const struct nest_move nest_move_privatize;
extern const struct nest_move nest_move_promote;
extern const struct nest_move nest_move_regtile;
extern const struct nest_move nest_move_reciprocal;
extern const struct nest_move nest_move_restrict;
extern const struct nest_move nest_move_reverse;
extern const struct nest_move nest_move_streams;
extern const struct nest_move nest_move_skew;
extern const struct nest_move nest_move_stream;
extern const struct nest_move nest_move_strip;
extern const struct nest_move nest_move_tile;
extern const struct nest_move nest_move_transpose;
extern const struct nest_move nest_move_unroll;
extern const struct nest_move nest_move_unswitch;
extern const struct nest_move nest_move_vectorize;

#endif

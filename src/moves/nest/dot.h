/*
 * Products of narrow integers, several to a lane of 32 bits: what code of "dot" is written with.
 *
 * A *group* is the rounds of a sum that a lane adds up at once: 4 of bytes, one of them without a
 * sign (VNNI of x86), or 2 of 16 bits (SSE2 and later). All of it wraps around, so that the order
 * of a sum does not matter and a result that fits is exact. The text stands in front of the entry
 * point, uses the instructions where the compiler is told that it may, and is plain C elsewhere.
 * Inside moves only.
 */
#ifndef KOPE_MOVES_NEST_DOT_H
#define KOPE_MOVES_NEST_DOT_H

#include "moves/nest_move.h"

/* What arrays hold: 8 or 16 bits. */
struct dot_element {
    int bits;
    bool is_signed;
};

/* A tile of `rows` by `vectors` of sums; the packed operand runs along the lanes. */
struct dot_shape {
    int64_t vector_bytes, lanes; /* of 32 bits */
    int64_t rows, vectors, group;
    int64_t most_rounds; /* for which there is room */
    struct dot_element row, packed;
};

/* Columns of a tile, and of a panel that is packed for it. */
int64_t dot_columns(const struct dot_shape *shape);
/* Elements of a panel, of type dot_panel_type. */
int64_t dot_panel_elements(const struct dot_shape *shape);
const char *dot_panel_type(const struct dot_shape *shape);

/* Names of the helpers: "pack(to, &from, step, next, rounds, columns)" and "tile(sums, &rows,
 * row, step, rows, panel, rounds, columns)". In the arena. */
const char *dot_pack_name(const struct dot_shape *shape, struct arena *arena);
const char *dot_tile_name(const struct dot_shape *shape, struct arena *arena);

/* Puts the helpers in front of the entry point, those that are not there yet. */
void dot_need(struct nest_edit *edit, const struct dot_shape *shape);

#endif

/*
 * Inverse moves: what makes a kernel fast, taken out of its text again, one mechanism at a time.
 *
 * For the backward walk from an expert's kernel: each removal gives C that should compute the same
 * and be slower. Nothing is proved here; the gate judges what is left. Textual and conservative:
 * tokens are recognised (moves/lex.h), macros are not expanded, what has another form stays. Pure.
 */
#ifndef KOPE_MOVES_INVERSE_H
#define KOPE_MOVES_INVERSE_H

#include "base/arena.h"

#include <stddef.h>

enum mechanism {
    MECHANISM_PREFETCH,     /* __builtin_prefetch */
    MECHANISM_STREAM_STORE, /* stores past the caches become plain ones */
    MECHANISM_PIN,          /* empty assembler statements that hold a value in a register */
    MECHANISM_HINT,         /* __builtin_expect, __builtin_assume_aligned */
    MECHANISM_UNROLL,       /* pragmas that unroll */
    MECHANISM_RECIPROCAL,   /* multiplying by 1 / x becomes dividing by x */
    MECHANISM_SIZE,         /* a constant of an enum (lanes, rows of a tile) becomes 1 */
    MECHANISM_VECTOR_MATH,  /* a function of its own (vexpf) becomes the library's (expf) */
    MECHANISM_SIMD,         /* pragmas 'omp simd' */
    MECHANISM_LOOP_ORDER,   /* two loops, one right within the other, change places */
    MECHANISM_RESTRICT,
    /* Of the build, not of the text: inverse_list never gives it. */
    MECHANISM_FLAG,
    /* The whole expert against the reference: nor this. */
    MECHANISM_STRUCTURE,
    MECHANISM_COUNT
};
const char *mechanism_name(enum mechanism mechanism);

/* One mechanism of a text, and the text without it. */
struct inverse_edit {
    enum mechanism mechanism;
    const char *what; /* which one, where there are several of its kind: "LANES", "i,p"; else "" */
    const char *text;
};

enum { INVERSE_MAX_EDITS = 48 };

/* All that can be taken out, in the order in which an expert would have put it in last; at most
 * INVERSE_MAX_EDITS. A text that cannot be lexed has none. */
size_t inverse_list(const char *text, struct arena *arena, struct inverse_edit *out);

#endif

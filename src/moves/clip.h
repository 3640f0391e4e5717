/*
 * Clipping: a body `{ const T s = j + off; if (s >= 0 && s < w && more) statement }` does nothing
 * for the j that fail the comparisons; so a loop over j around it may run from max(.., 0 - off) to
 * min(.., w - off) and needs no test of s. A loop without the test runs on plain vectors. Integers
 * of one signed type only. Inside moves only.
 */
#ifndef KOPE_MOVES_CLIP_H
#define KOPE_MOVES_CLIP_H

#include "moves/source.h"

enum { CLIP_MAX = 8 };

struct clip {
    size_t low_count, high_count;
    const char *low[CLIP_MAX], *high[CLIP_MAX]; /* j >= each low, j < each high */
    size_t condition, condition_end; /* tokens to be replaced by `rest`: the condition, or where
                                        `rest` is NULL all of `if (...)` */
    const char *rest;
};

/* What the body [begin, end) allows for the loop variable declared at token `var` with the type
 * [type, var); false: nothing. */
bool clip_find(const struct tokens *tokens, const struct definition *definition, size_t type,
               size_t var, size_t begin, size_t end, struct arena *arena, struct clip *out);

#endif

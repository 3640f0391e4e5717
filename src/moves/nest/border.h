/*
 * Sums with borders: `if (0 <= r && r < h && ...) sum += x[r][s] * w[...]`, where a condition keeps
 * an array from being read beyond its edges. All else in the statement stays within its own array
 * without the condition, too. Inside moves/nest.
 */
#ifndef KOPE_MOVES_NEST_BORDER_H
#define KOPE_MOVES_NEST_BORDER_H

#include "moves/nest/affine.h"
#include "moves/nest/edit.h"

enum { BORDER_MAX_FACTORS = 4 };

struct border {
    bool takes_all; /* set by the caller: all rounds of the loop are looked at together */
    struct nest_stmt *guard, *sum;
    const struct nest_expr *access; /* the one read of the array, in `sum` */
    size_t rank;
    struct poly at[NEST_MAX_DIMENSIONS];   /* the subscripts, local variables put in */
    struct poly size[NEST_MAX_DIMENSIONS]; /* of the array */
    bool is_fixed[NEST_MAX_DIMENSIONS];    /* the subscript is the same in all that is looked at */
    /* How far beyond the edges it would be read without the condition; 0 where it is fixed. */
    int64_t before[NEST_MAX_DIMENSIONS], behind[NEST_MAX_DIMENSIONS];
    const struct nest_expr *left; /* what the condition asks besides; NULL: nothing */
    /* Elements of other arguments, that are only read, by which it is multiplied. */
    const struct nest_expr *factors[BORDER_MAX_FACTORS];
    size_t factor_count;
};

/* The only read of the argument `array` in a round of `loop`, or in all of them; false with the
 * refusal where it is not of that form. */
bool border_find(const struct nest_edit *edit, struct nest_stmt *loop,
                 const struct nest_symbol *array, struct border *out, const char **refusal);
/* The polynomial as an expression. */
const struct nest_expr *border_expr(const struct nest_edit *edit, const struct poly *poly);

#endif

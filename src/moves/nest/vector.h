/*
 * Vector code from loops: several rounds of some loops at once, one of them in the lanes of
 * vectors.
 *
 * Printed are the vector extensions that gcc and clang share, of the width of the target: `vreal`
 * is a vector of reals, vreal_at(a, i) the vector that begins at a[i], aligned or not; what else is
 * used of vector_prologue's helpers stands in front of the entry point. The file reads back: the
 * helpers are called like functions. Each value has a variable of its own (sum_0_1), never an
 * array: compilers keep variables in registers. Inside moves only.
 */
#ifndef KOPE_MOVES_NEST_VECTOR_H
#define KOPE_MOVES_NEST_VECTOR_H

#include "moves/nest_move.h"

enum { VECTOR_MAX_TILES = 4, VECTOR_MAX_COPIES = 64, VECTOR_NONE = VECTOR_MAX_TILES };

/* `factor` rounds of the loop become one: its step is that of so many already, `step` that of one.
 */
struct vector_tile {
    struct nest_stmt *loop;
    int64_t factor, step;
};

/* Loops inside each other, outermost first, each with a number of rounds that its factor divides;
 * `vector` is the one in the lanes, or VECTOR_NONE. */
struct vector_tiles {
    struct vector_tile items[VECTOR_MAX_TILES];
    size_t count, vector;
    const struct nest_expr *begin; /* of the vector loop's counter, before it was cut */
};

/* Lanes of a vector of the task's reals on this target; 0 with the refusal. */
int64_t vector_lanes(const struct nest_edit *edit, const char **refusal);

/* The loop that a step names which works on the vectors of an innermost one, and on nothing else;
 * NULL with the refusal. */
struct nest_stmt *vector_step_loop(const struct nest_edit *edit, const struct nest_step *step,
                                   const char **refusal);

/* Is it the type of the lanes: real, or what real is here? */
bool vector_is_lane(const struct nest_edit *edit, const char *type);

/* The loop counts by 1, and every access to an array of reals below it is to neighbours in
 * neighbouring rounds, or to one element in all; false with the refusal. Where there are loops
 * inside, what the loop itself sets with "=" may lie anywhere: that is stored lane by lane. */
bool vector_fits(const struct nest_edit *edit, const struct nest_stmt *loop, const char **refusal);

/* The rounds of the loop may run at the same time, sums and extrema reordered where the task
 * allows; false with the refusal. */
bool vector_independent(const struct nest_edit *edit, const struct nest_stmt *loop,
                        const char **refusal);

/* Changes the loops and their body; the caller has seen that the loops are independent. Sums and
 * extrema over a loop get accumulators where it is the only one. */
bool vector_expand(struct nest_edit *edit, const struct vector_tiles *tiles, const char **refusal);

/* Puts helpers in front of the entry point, those that are not there yet. `name` is of a helper
 * ("vreal_exp"), with all that it needs. */
void vector_need(struct nest_edit *edit, const char *name);

/* By how much the subscript grows where the loop's counter grows by 1; false where that is no
 * number. */
bool vector_stride(const struct nest_edit *edit, const struct nest_stmt *loop,
                   const struct nest_expr *index, int64_t *out);

#endif

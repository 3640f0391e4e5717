/*
 * What moves on nests are written with: expressions that fold as they are built, copies,
 * substitution, names, and where a statement hangs. Inside moves only.
 */
#ifndef KOPE_MOVES_NEST_EDIT_H
#define KOPE_MOVES_NEST_EDIT_H

#include "moves/nest_move.h"

/* Sets the refusal; false. */
bool nest_refuse(const struct nest_edit *edit, const char **refusal, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- expressions: values that are never changed ------------------------------------------------
 */
const struct nest_expr *nest_number(const struct nest_edit *edit, int64_t value);
const struct nest_expr *nest_literal(const struct nest_edit *edit, const char *text);
const struct nest_expr *nest_name(const struct nest_edit *edit, const struct nest_symbol *symbol);
/* `op` of two operands; sums and products of whole numbers are folded, x + 0 and x * 1 too, which
 * is exact for integers only: for subscripts and bounds. */
const struct nest_expr *nest_index(const struct nest_edit *edit, const char *op,
                                   const struct nest_expr *a, const struct nest_expr *b);
/* The same without folding: for values. */
const struct nest_expr *nest_binary(const struct nest_edit *edit, const char *op,
                                    const struct nest_expr *a, const struct nest_expr *b);
const struct nest_expr *nest_conditional(const struct nest_edit *edit,
                                         const struct nest_expr *condition,
                                         const struct nest_expr *yes, const struct nest_expr *no);
/* array[subscripts...] */
const struct nest_expr *nest_access(const struct nest_edit *edit, const struct nest_symbol *array,
                                    const struct nest_expr *const *subscripts, size_t count);
/* The smaller of two indices, as a conditional: what a tile's bound is. */
const struct nest_expr *nest_smaller(const struct nest_edit *edit, const struct nest_expr *a,
                                     const struct nest_expr *b);
/* The larger of two indices, likewise. */
const struct nest_expr *nest_larger(const struct nest_edit *edit, const struct nest_expr *a,
                                    const struct nest_expr *b);
/* The whole number that the expression is; false where it is none. */
bool nest_is_number(const struct nest_expr *expr, int64_t *value);
/* All of it is computed in whole numbers. */
bool nest_is_integer(const struct nest_expr *expr);
/* `expr` with `with` wherever it names `symbol`. */
const struct nest_expr *nest_replace(const struct nest_edit *edit, const struct nest_expr *expr,
                                     const struct nest_symbol *symbol,
                                     const struct nest_expr *with);
/* Does it name the symbol (as an array, a pointer or a variable)? */
bool nest_expr_uses(const struct nest_expr *expr, const struct nest_symbol *symbol);

/* --- statements --------------------------------------------------------------------------------
 */
struct nest_stmt *nest_new_stmt(const struct nest_edit *edit, enum nest_stmt_kind kind, int line);
struct nest_stmt *nest_assign(const struct nest_edit *edit, const struct nest_expr *target,
                              const char *op, const struct nest_expr *value, int line);
/* A loop upward; its counter and its name are new. */
struct nest_stmt *nest_new_loop(struct nest_edit *edit, const char *name, const char *type,
                                const struct nest_expr *from, const struct nest_expr *bound,
                                int64_t step, struct nest_stmt *body, int line);
/* "T name = value;" or "T name;" with a new symbol. */
struct nest_stmt *nest_new_variable(struct nest_edit *edit, const char *name, const char *type,
                                    const struct nest_expr *value, int line);
/* A copy of a list, with symbols of its own for what is declared in it. */
struct nest_stmt *nest_copy_list(struct nest_edit *edit, const struct nest_stmt *first);
/* nest_replace in every statement of the list and below. */
void nest_replace_in(const struct nest_edit *edit, struct nest_stmt *first,
                     const struct nest_symbol *symbol, const struct nest_expr *with);
bool nest_list_uses(const struct nest_stmt *first, const struct nest_symbol *symbol);
/* Assigned to in the list or below (an element or the whole). */
bool nest_list_assigns(const struct nest_stmt *first, const struct nest_symbol *symbol);
/* The array or variable behind a pointer, through other pointers; else the symbol itself. */
const struct nest_symbol *nest_base_of(const struct nest_symbol *symbol);
/* As nest_expr_uses; an array by any pointer into it, too. */
bool nest_expr_reaches(const struct nest_expr *expr, const struct nest_symbol *symbol);
/* The list or below uses or declares a pointer into `array`: its elements have another name there.
 */
bool nest_list_points_into(struct nest_stmt *first, const struct nest_symbol *array);
/* Declared in the list or below. */
bool nest_list_declares(const struct nest_stmt *first, const struct nest_symbol *symbol);
/* Something that the expression names is declared in the list or below. */
bool nest_list_declares_any(const struct nest_stmt *first, const struct nest_expr *expr);
/* The list with another one behind it. */
struct nest_stmt *nest_append(struct nest_stmt *list, struct nest_stmt *more);
/* The pointer in the nest that points at `stmt`; a bug where it is not in the nest. */
struct nest_stmt **nest_link(struct nest *nest, const struct nest_stmt *stmt);
/* The loop or branch that `stmt` is directly in; NULL at the top. Blocks are passed by. */
struct nest_stmt *nest_parent(const struct nest *nest, const struct nest_stmt *stmt);
/* The loops around `stmt`, outermost first; how many. */
size_t nest_loops_around(const struct nest *nest, const struct nest_stmt *stmt,
                         struct nest_stmt *out[NEST_MAX_DEPTH]);
/* `first` and everything below holds a statement of that kind. */
bool nest_list_has(const struct nest_stmt *first, enum nest_stmt_kind kind);
/* A loop in which there is no other. */
bool nest_is_innermost(const struct nest_stmt *loop);
/* The loop that is all there is in the body of another; NULL. */
struct nest_stmt *nest_only_loop(const struct nest_stmt *loop);

/* --- names -------------------------------------------------------------------------------------
 */
/* `wish`, or with a number behind it, so that no other symbol and no other loop is called so. */
const char *nest_new_name(const struct nest_edit *edit, const char *wish);
/* Calls counters as their loops and gives a second local of one name a number. False with the
 * refusal where text that is kept speaks of one by its old name. */
bool nest_make_names_unique(struct nest_edit *edit, const char **refusal);
/* A statement of the list or below that is kept as text has the name as a word: what is called so
 * cannot become another thing there. */
bool nest_text_names(struct nest_stmt *first, const char *name);
struct nest_symbol *nest_new_symbol(struct nest_edit *edit, enum nest_symbol_kind kind,
                                    const char *wish, const char *type);
/* The loop or array that a step speaks of; NULL with the refusal. */
struct nest_stmt *nest_step_loop(const struct nest_edit *edit, const struct nest_step *step,
                                 size_t arg, const char **refusal);
struct nest_symbol *nest_step_symbol(const struct nest_edit *edit, const struct nest_step *step,
                                     size_t arg, const char **refusal);
/* The number of an argument, from `least` to NEST_MAX_FACTOR. */
bool nest_step_number(const struct nest_edit *edit, const struct nest_step *step, size_t arg,
                      int64_t least, int64_t *out, const char **refusal);
/* `least` to `most` arguments. */
bool nest_step_count(const struct nest_edit *edit, const struct nest_step *step, size_t least,
                     size_t most, const char **refusal);

/* --- loops -------------------------------------------------------------------------------------
 */
/* The bound that stands for "counter < bound" of a loop upward: bound, or bound + 1 of "<=".
 * NULL: the loop goes downward. */
const struct nest_expr *nest_end(const struct nest_edit *edit, const struct nest_stmt *loop);
/* How often the body runs, where it is a number; -1. */
int64_t nest_trip_count(const struct nest_edit *edit, const struct nest_stmt *loop);
/* Upward, with a counter for which differences of bounds make sense; false with the refusal. */
bool nest_counts_upward(const struct nest_edit *edit, const struct nest_stmt *loop,
                        const char **refusal);
/* The same, and by 1 with a sign, without a pragma: rounds can be named by their distance. */
bool nest_counts_by_one(const struct nest_edit *edit, const struct nest_stmt *loop,
                        const char **refusal);
/* Counter and bounds are signed: a bound less than where the loop begins is no large number. */
bool nest_counts_signed(const struct nest_stmt *loop);
bool nest_type_is_unsigned(const char *type);
/* Of 8 or 16 bits: what is stored in it may wrap around. */
bool nest_type_is_narrow(const char *type);
/* Of 32 bits without a sign: what is computed of it and goes below 0 comes out positive in the 64
 * bits of a subscript. (Fewer bits become int first, and 64 wrap around to what was meant.) */
bool nest_type_wraps(const char *type);
/* Puts a loop "i_s" over strips of `size` rounds around the loop, which keeps its name and runs one
 * strip, the last one shorter: the loop over strips, or NULL with the refusal. */
struct nest_stmt *nest_strip(struct nest_edit *edit, struct nest_stmt *loop, int64_t size,
                             const char **refusal);
/* Makes the loop run a multiple of `factor` rounds and puts a copy for the other rounds behind it,
 * where there are any: what unrolls needs no condition inside. `*rest` (may be NULL) is the copy or
 * NULL. */
bool nest_split_rest(struct nest_edit *edit, struct nest_stmt *loop, int64_t factor,
                     struct nest_stmt **rest, const char **refusal);

/* The most rounds that the loop can have, where its bounds show it: numbers, or a strip of one step
 * of 1; false where they do not. */
bool nest_widest(const struct nest_edit *edit, const struct nest_stmt *loop, int64_t *out);
/* Takes conditions out of the loop that always hold where they stand, and branches that are never
 * taken. */
void nest_drop_conditions(struct nest_edit *edit, struct nest_stmt *loop);
/* Swaps what two loops run over and are called; their bodies stay where they are. */
void nest_swap_heads(struct nest_stmt *a, struct nest_stmt *b);
/* Neither bound reads memory or a variable that is assigned anywhere. */
bool nest_has_fixed_bounds(const struct nest *nest, const struct nest_stmt *loop);
/* Loops "i(:4), j, ..." of a step, each all there is in the body of the one before; false with the
 * refusal. */
bool nest_step_band(const struct nest_edit *edit, const struct nest_step *step,
                    struct nest_stmt *out[NEST_STEP_MAX_ARGS], const char **refusal);
/* `type` without const: of a variable that is assigned. */
const char *nest_plain_type(const struct nest_edit *edit, const char *type);

/* --- suggestions -------------------------------------------------------------------------------
 */
/* Steps that a move suggests, as the nest is walked. */
struct nest_suggestions {
    const struct nest *nest;
    const struct nest_target *target;
    struct arena *arena;
    const char **out;
    size_t count, capacity;
};
/* Adds a step where there is room. */
void nest_suggest(struct nest_suggestions *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Calls `visit`, whose context is a struct nest_suggestions, for every statement; the count. */
size_t nest_suggest_each(const struct nest *nest, const struct nest_target *target,
                         bool (*visit)(void *context, struct nest_stmt *stmt, int depth),
                         struct arena *arena, const char **out, size_t capacity);
/* A step for each innermost loop; the format has one %s for its name. */
size_t nest_suggest_innermost(const struct nest *nest, const char *format, struct arena *arena,
                              const char **out, size_t capacity);

#endif

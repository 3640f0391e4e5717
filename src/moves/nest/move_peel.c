/* peel(i:1): the first and the last round of i on their own; what a condition in the middle is
 * there known to be goes. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

static const struct nest_expr *larger(const struct nest_edit *edit, const struct nest_expr *a,
                                      const struct nest_expr *b)
{
    int64_t x = 0;
    int64_t y = 0;
    if (nest_is_number(a, &x) && nest_is_number(b, &y))
        return x > y ? a : b;
    return nest_conditional(edit, nest_binary(edit, ">", a, b), a, b);
}

static struct nest_stmt *copy_of(struct nest_edit *edit, const struct nest_stmt *loop)
{
    struct nest_stmt *alone = arena_memdup(edit->arena, loop, sizeof *loop);
    alone->next = NULL;
    return nest_copy_list(edit, alone);
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    int64_t rounds = 0;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || !nest_step_number(edit, step, 0, 1, &rounds, refusal) ||
        !nest_counts_upward(edit, loop, refusal))
        return false;
    if (loop->step != 1 || !nest_counts_signed(loop))
        return nest_refuse(edit, refusal,
                           "the counter or a bound of loop '%s' is unsigned, or its step not 1",
                           loop->name);
    if (nest_list_has(loop->body, NEST_OPAQUE) || !nest_has_fixed_bounds(edit->nest, loop))
        return nest_refuse(edit, refusal,
                           "loop '%s' holds a statement that is not understood, or a bound that "
                           "is computed in the nest",
                           loop->name);
    const struct nest_expr *begin = loop->from;
    const struct nest_expr *end = nest_end(edit, loop);
    const struct nest_expr *low = nest_index(edit, "+", begin, nest_number(edit, rounds));
    const struct nest_expr *high = nest_index(edit, "-", end, nest_number(edit, rounds));
    struct nest_stmt **link = nest_link(edit->nest, loop);
    struct nest_stmt *first = copy_of(edit, loop);
    struct nest_stmt *last = copy_of(edit, loop);
    first->bound = nest_smaller(edit, low, end);
    first->op = "<";
    last->from = larger(edit, high, low);
    loop->from = low;
    loop->bound = high;
    loop->op = "<";
    last->next = loop->next;
    loop->next = last;
    first->next = loop;
    *link = first;
    nest_drop_conditions(edit, first);
    nest_drop_conditions(edit, loop);
    nest_drop_conditions(edit, last);
    return true;
}

/* A condition in it names its counter, perhaps by a helper variable. */
static bool has_condition(const struct nest_stmt *first)
{
    return nest_list_has(first, NEST_IF);
}

static bool add_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && has_condition(stmt->body))
        nest_suggest(list, "peel(%s:1)", stmt->name);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_loop, arena, out, capacity);
}

const struct nest_move nest_move_peel = {
    .name = "peel",
    .group = "structure",
    .intent = "runs the first and last rounds apart, where conditions for the border hold",
    .parameters = "peel(LOOP:ROUNDS); ROUNDS as wide as the border",
    .precondition = "the loop counts upward by 1 and holds nothing that is not understood",
    .effect = "the middle has no conditions: it becomes vectors",
    .breaks = "three times the code",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

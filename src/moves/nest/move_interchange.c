/* interchange(i,j): two loops of a perfect band change places. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

struct swap {
    const struct nest_stmt *outer, *inner;
};

static void reorder(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct swap *swap = context;
    const size_t a = order_find(order, swap->outer);
    const size_t b = order_find(order, swap->inner);
    (void)stmt;
    if (a == order->count || b == order->count)
        return;
    const struct order_term term = order->terms[a];
    order->terms[a] = order->terms[b];
    order->terms[b] = term;
}

/* The band from `outer` down to `inner`; 0 with the refusal where it is none. */
static size_t find_band(const struct nest_edit *edit, struct nest_stmt *outer,
                        const struct nest_stmt *inner, struct nest_stmt *band[NEST_MAX_DEPTH],
                        const char **refusal)
{
    size_t count = 0;
    for (struct nest_stmt *loop = outer; loop && count < NEST_MAX_DEPTH;
         loop = nest_only_loop(loop)) {
        if (!nest_has_fixed_bounds(edit->nest, loop)) {
            (void)nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                              loop->name);
            return 0;
        }
        band[count++] = loop;
        if (loop == inner)
            return count;
    }
    (void)nest_refuse(edit, refusal, "loop '%s' is not all there is in the body of loop '%s'",
                      inner->name, outer->name);
    return 0;
}

/* After the swap no loop's bounds may name a counter that is further in. */
static bool bounds_allow(const struct nest_edit *edit, struct nest_stmt *const *band, size_t count,
                         const char **refusal)
{
    for (size_t at = 0; at < count; at++) {
        const size_t from = at == 0 ? count - 1 : at == count - 1 ? 0 : at;
        for (size_t in = at; in < count; in++) {
            const size_t other = in == 0 ? count - 1 : in == count - 1 ? 0 : in;
            const struct nest_symbol *counter = band[other]->symbol;
            if (nest_expr_uses(band[from]->from, counter) ||
                nest_expr_uses(band[from]->bound, counter))
                return nest_refuse(edit, refusal, "the bounds of loop '%s' depend on '%s'",
                                   band[from]->name, counter->name);
        }
    }
    return true;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct nest_stmt *band[NEST_MAX_DEPTH];
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    struct nest_stmt *outer = nest_step_loop(edit, step, 0, refusal);
    struct nest_stmt *inner = outer ? nest_step_loop(edit, step, 1, refusal) : NULL;
    if (!inner)
        return false;
    if (outer == inner)
        return nest_refuse(edit, refusal, "both are loop '%s'", outer->name);
    const size_t count = find_band(edit, outer, inner, band, refusal);
    if (count == 0 || !bounds_allow(edit, band, count, refusal) ||
        !depend_open(edit, outer, 1, &depend, refusal))
        return false;
    struct swap swap = {.outer = outer, .inner = inner};
    if (!depend_allows(depend, reorder, &swap, &(struct depend_opts){.relax_reductions = true},
                       &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    if (!depend_may_relax(edit, &answer, refusal))
        return false;
    nest_swap_heads(outer, inner);
    return true;
}

static bool add_pair(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    const struct nest_stmt *inner = stmt->kind == NEST_FOR ? nest_only_loop(stmt) : NULL;
    if (inner)
        nest_suggest(list, "interchange(%s,%s)", stmt->name, inner->name);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_pair, arena, out, capacity);
}

const struct nest_move nest_move_interchange = {
    .name = "interchange",
    .group = "structure",
    .intent = "changes the places of two nested loops, so that memory is read in order",
    .parameters = "interchange(OUTER,INNER)",
    .precondition = "the loops are nested with nothing between them, neither's bounds depend on "
                    "the other, and no dependence runs forward in the one and backward in the "
                    "other",
    .effect = "strides become small: up to 26x where the innermost loop jumped through memory",
    .breaks = "a sum may change its order, where the task allows it",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

/* tile(i:32,j:64): blocks of 32 by 64 rounds, one after another. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

struct tile {
    struct nest_stmt *loops[NEST_STEP_MAX_ARGS];
    int64_t sizes[NEST_STEP_MAX_ARGS];
    size_t count;
};

/* Which block comes first; in it the rounds stay in order. */
static void reorder(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct tile *tile = context;
    const size_t at = order_find(order, tile->loops[0]);
    (void)stmt;
    if (at == order->count || order_find(order, tile->loops[tile->count - 1]) == order->count)
        return;
    for (size_t i = tile->count; i-- > 0;)
        order_insert(
            order, at,
            (struct order_term){.loop = tile->loops[i], .factor = 1, .divide = tile->sizes[i]});
}

static bool bounds_allow(const struct nest_edit *edit, const struct tile *tile,
                         const char **refusal)
{
    for (size_t i = 0; i < tile->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (nest_expr_uses(tile->loops[i]->from, tile->loops[j]->symbol) ||
                nest_expr_uses(tile->loops[i]->bound, tile->loops[j]->symbol))
                return nest_refuse(edit, refusal, "the bounds of loop '%s' depend on '%s'",
                                   tile->loops[i]->name, tile->loops[j]->name);
        }
    }
    return true;
}

/* Strips stand outside of their loops; then the loops over strips go out, past the others. */
static bool cut(struct nest_edit *edit, struct tile *tile, const char **refusal)
{
    struct nest_stmt *heads[2 * NEST_STEP_MAX_ARGS];
    for (size_t i = 0; i < tile->count; i++) {
        heads[2 * i] = nest_strip(edit, tile->loops[i], tile->sizes[i], refusal);
        heads[2 * i + 1] = tile->loops[i];
        if (!heads[2 * i])
            return false;
    }
    for (size_t i = 1; i < tile->count; i++) {
        for (size_t at = 2 * i; at > i; at--)
            nest_swap_heads(heads[at - 1], heads[at]);
    }
    return true;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    struct tile tile = {.count = step->arg_count};
    if (!nest_step_count(edit, step, 2, NEST_STEP_MAX_ARGS, refusal) ||
        !nest_step_band(edit, step, tile.loops, refusal))
        return false;
    for (size_t i = 0; i < tile.count; i++) {
        if (!nest_step_number(edit, step, i, 2, &tile.sizes[i], refusal) ||
            !nest_counts_upward(edit, tile.loops[i], refusal))
            return false;
    }
    if (!bounds_allow(edit, &tile, refusal) ||
        !depend_open(edit, tile.loops[0], 1, &depend, refusal))
        return false;
    if (!depend_allows(depend, reorder, &tile, &(struct depend_opts){.relax_reductions = true},
                       &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    return depend_may_relax(edit, &answer, refusal) && cut(edit, &tile, refusal);
}

static bool add_band(void *context, struct nest_stmt *stmt, int depth)
{
    static const int sizes[] = {32, 64};
    struct nest_suggestions *list = context;
    (void)depth;
    const struct nest_stmt *inner = stmt->kind == NEST_FOR ? nest_only_loop(stmt) : NULL;
    for (size_t i = 0; inner && i < sizeof sizes / sizeof *sizes; i++) {
        nest_suggest(list, "tile(%s:%d,%s:%d)", stmt->name, sizes[i], inner->name, sizes[i]);
    }
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_band, arena, out, capacity);
}

const struct nest_move nest_move_tile = {
    .name = "tile",
    .group = "structure",
    .intent = "runs nested loops block by block, so that what a block reads stays in a cache",
    .parameters = "tile(OUTER:SIZE,INNER:SIZE,...); SIZE 2 to 65536, such that what a block reads "
                  "fits a cache",
    .precondition = "the loops are nested with nothing between them, have bounds that do not "
                    "depend on each other, and no dependence runs backward in one of them",
    .effect = "fewer misses where the same memory is read again",
    .breaks = "short inner loops; a sum may change its order, where the task allows it",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

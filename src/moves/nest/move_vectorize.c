/* vectorize(j:64): 64 rounds of j at once in the lanes of vectors; sums get as many accumulators.
 */
#include "moves/nest/move.h"
#include "moves/nest/vector_tile.h"

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct vector_tiles tiles = {.count = 1};
    int64_t factor = 0;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || !nest_step_number(edit, step, 0, 2, &factor, refusal))
        return false;
    const int64_t lanes = vector_lanes(edit, refusal);
    if (lanes == 0)
        return false;
    if (factor % lanes != 0)
        return nest_refuse(edit, refusal, "a vector has %lld lanes here, which do not divide %lld",
                           (long long)lanes, (long long)factor);
    tiles.items[0] = (struct vector_tile){.loop = loop, .factor = factor};
    return vector_fits(edit, loop, refusal) && vector_independent(edit, loop, refusal) &&
           vector_cut(edit, &tiles, refusal);
}

static bool add_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    const struct nest_edit edit = {.arena = list->arena, .target = *list->target};
    const char *refusal = NULL;
    (void)depth;
    if (stmt->kind == NEST_FOR && vector_fits(&edit, stmt, &refusal)) {
        const int64_t bytes = (int64_t)dtype_bytes(list->nest->task->dtype);
        nest_suggest(list, "vectorize(%s:%lld)", stmt->name,
                     (long long)(4 * list->target->vector_bytes / bytes));
    }
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest->task && target->vector_bytes >= 16
               ? nest_suggest_each(nest, target, add_loop, arena, out, capacity)
               : 0;
}

const struct nest_move nest_move_vectorize = {
    .name = "vectorize",
    .group = "machine",
    .intent = "does neighbouring rounds of a loop in the lanes of vectors",
    .parameters = "vectorize(LOOP:ROUNDS); ROUNDS a multiple of a vector's lanes, up to 16 vectors",
    .precondition = "the rounds are independent but for sums and extrema, and touch neighbours",
    .effect = "as many operations at once as a vector has lanes; exp and tanh by polynomials",
    .breaks = "sums in another order; exp and tanh to 2 or 3 ulp",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

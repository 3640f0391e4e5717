/* skew(t:4,i:32): the sweeps of a loop over time steps, strip by strip. A strip goes through 4
 * steps while it is near, and lies a round further back in each sweep than in the one before: there
 * its neighbours are as that sweep needs them. Strips in more than one direction:
 * skew(t:4,i:32,j:256).
 *
 * With s sweeps a step and a shift of d, round x of sweep k in step t is at x + d * (s * t + k).
 * Where nothing that is needed lies further along than what needs it, blocks of any size may run
 * one after another: the time skewing of Wonnacott (IPDPS 2000), as rounds of strips. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"
#include "moves/nest/sweep.h"

#include "base/str.h"

enum { MAX_DIMENSIONS = NEST_STEP_MAX_ARGS - 1 };

struct skew {
    struct nest_stmt *time;
    int64_t steps, shift;
    struct nest_stmt *loops[NEST_MAX_SWEEPS][MAX_DIMENSIONS]; /* of each sweep, outermost first */
    int64_t sizes[MAX_DIMENSIONS];
    size_t sweep_count, dimension_count;
    size_t asked; /* the dimension in question */
};

/* How far a sweep is behind the first one of its step. */
static int64_t behind(const struct skew *skew, size_t sweep)
{
    return skew->shift * (int64_t)sweep;
}

/* How much further back each step is. */
static int64_t each_step(const struct skew *skew)
{
    return behind(skew, skew->sweep_count);
}

/* As if each round of the skewed loop were a strip: an order that is kept so is kept by strips of
 * any size, wherever they begin. */
static void reorder(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct skew *skew = context;
    const size_t at = order_find(order, skew->time);
    struct order_term term = {.factor = 1, .by = skew->time, .by_factor = each_step(skew)};
    (void)stmt;
    if (at == order->count)
        return;
    for (size_t k = 0; k < skew->sweep_count && !term.loop; k++) {
        struct nest_stmt *loop = skew->loops[k][skew->asked];
        if (order_find(order, loop) == order->count)
            continue;
        term.loop = loop;
        term.place = behind(skew, k);
    }
    order_insert(order, at, term.loop ? term : (struct order_term){0});
}

/* --- what is asked for -------------------------------------------------------------------------
 */

static bool find_numbers(const struct nest_edit *edit, const struct nest_step *step,
                         struct skew *out, const char **refusal)
{
    out->dimension_count = step->arg_count - 1;
    out->shift = 1;
    if (!step->args[step->arg_count - 1].value) {
        out->dimension_count--;
        if (!nest_step_number(edit, step, step->arg_count - 1, 1, &out->shift, refusal))
            return false;
    }
    if (out->dimension_count == 0)
        return nest_refuse(edit, refusal, "'%s' names no loop to cut into strips", step->text);
    if (!nest_step_number(edit, step, 0, 2, &out->steps, refusal))
        return false;
    for (size_t d = 0; d < out->dimension_count; d++) {
        if (!nest_step_number(edit, step, d + 1, 2, &out->sizes[d], refusal))
            return false;
    }
    return true;
}

/* The bounds are the same in every step and for every strip. */
static bool is_straight(const struct nest_edit *edit, const struct skew *skew,
                        struct nest_stmt *const *loops, size_t dimension, const char **refusal)
{
    const struct nest_stmt *loop = loops[dimension];
    if (!nest_has_fixed_bounds(edit->nest, loop))
        return nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                           loop->name);
    for (size_t d = 0; d <= dimension; d++) {
        const struct nest_stmt *around = d == 0 ? skew->time : loops[d - 1];
        if (nest_expr_uses(loop->from, around->symbol) ||
            nest_expr_uses(loop->bound, around->symbol))
            return nest_refuse(edit, refusal, "the bounds of loop '%s' depend on '%s'", loop->name,
                               around->name);
    }
    return nest_counts_by_one(edit, loop, refusal);
}

/* One sweep from its outermost loop on. */
static bool find_sweep(const struct nest_edit *edit, struct skew *skew, struct nest_stmt *first,
                       const char **refusal)
{
    struct nest_stmt **loops = skew->loops[skew->sweep_count++];
    for (size_t d = 0; d < skew->dimension_count; d++) {
        loops[d] = d == 0 ? first : nest_only_loop(loops[d - 1]);
        if (!loops[d])
            return nest_refuse(edit, refusal, "the body of loop '%s' is not one loop",
                               loops[d - 1]->name);
        if (!is_straight(edit, skew, loops, d, refusal))
            return false;
    }
    return true;
}

static bool find_sweeps(const struct nest_edit *edit, const struct nest_step *step,
                        struct skew *skew, const char **refusal)
{
    for (struct nest_stmt *s = skew->time->body; s; s = s->next) {
        if (s->kind != NEST_FOR)
            return nest_refuse(edit, refusal, "line %d stands beside the sweeps of loop '%s'",
                               s->line, skew->time->name);
        if (skew->sweep_count == NEST_MAX_SWEEPS)
            return nest_refuse(edit, refusal, "loop '%s' holds more than %d sweeps",
                               skew->time->name, NEST_MAX_SWEEPS);
        if (!find_sweep(edit, skew, s, refusal))
            return false;
    }
    for (size_t d = 0; d < skew->dimension_count; d++) {
        const struct nest_stmt *named = nest_step_loop(edit, step, d + 1, refusal);
        if (!named)
            return false;
        if (skew->sweep_count == 0 || skew->loops[0][d] != named)
            return nest_refuse(edit, refusal,
                               "loop '%s' is not loop %zu of the first sweep in '%s'", named->name,
                               d + 1, skew->time->name);
    }
    if (each_step(skew) * skew->steps > NEST_MAX_FACTOR)
        return nest_refuse(edit, refusal, "the last step would lie more than %d rounds back",
                           NEST_MAX_FACTOR);
    return true;
}

/* --- what comes of it --------------------------------------------------------------------------
 */

/* The loop over strips: from where the first step's first begins to where the last one's last ends.
 */
static struct nest_stmt *new_strips(struct nest_edit *edit, const struct skew *skew, size_t d,
                                    struct nest_stmt *body)
{
    const size_t count = skew->sweep_count;
    const struct nest_stmt *named = skew->loops[0][d];
    const struct nest_expr *from = named->from;
    const struct nest_expr *last = nest_end(edit, skew->loops[count - 1][d]);
    const struct nest_expr *end =
        nest_index(edit, "+", last, nest_number(edit, behind(skew, count - 1)));
    for (size_t k = 1; k < count; k++) { /* the same place lies further along in a later sweep */
        const struct nest_stmt *loop = skew->loops[k][d];
        if (!nest_expr_same(loop->from, named->from))
            from = nest_smaller(
                edit, from, nest_index(edit, "+", loop->from, nest_number(edit, behind(skew, k))));
    }
    for (size_t k = 0; k + 1 < count; k++) {
        const struct nest_expr *other = nest_end(edit, skew->loops[k][d]);
        if (!nest_expr_same(other, last))
            end = nest_larger(edit, end,
                              nest_index(edit, "+", other, nest_number(edit, behind(skew, k))));
    }
    end = nest_index(edit, "+", end, nest_number(edit, each_step(skew) * (skew->steps - 1)));
    return nest_new_loop(edit, arena_printf(edit->arena, "%s_s", named->name), "int64_t", from, end,
                         skew->sizes[d], body, named->line);
}

/* A sweep's rounds that are in the strip, which begins at `strip` for the first sweep. */
static void cut_sweep(struct nest_edit *edit, const struct skew *skew, size_t sweep, size_t d,
                      const struct nest_symbol *strip)
{
    struct nest_stmt *loop = skew->loops[sweep][d];
    const struct nest_expr *begin =
        nest_index(edit, "-", nest_name(edit, strip), nest_number(edit, behind(skew, sweep)));
    const struct nest_expr *end = nest_index(edit, "+", begin, nest_number(edit, skew->sizes[d]));
    loop->bound = nest_smaller(edit, end, nest_end(edit, loop));
    loop->from = nest_larger(edit, begin, loop->from);
    loop->op = "<";
}

/* [blocks of steps, strips, steps, sweeps], and at the head of each step where its strip begins. */
static bool cut(struct nest_edit *edit, const struct skew *skew, const char **refusal)
{
    struct nest_stmt *blocks = nest_strip(edit, skew->time, skew->steps, refusal);
    if (!blocks)
        return false;
    const struct nest_expr *done =
        nest_index(edit, "-", nest_name(edit, skew->time->symbol), nest_name(edit, blocks->symbol));
    const struct nest_expr *back = nest_index(edit, "*", nest_number(edit, each_step(skew)), done);
    for (size_t d = skew->dimension_count; d-- > 0;) {
        const struct nest_stmt *named = skew->loops[0][d];
        struct nest_stmt *strips = blocks->body = new_strips(edit, skew, d, blocks->body);
        struct nest_stmt *at = nest_new_variable(
            edit, arena_printf(edit->arena, "%s_at", named->name), "const int64_t",
            nest_index(edit, "-", nest_name(edit, strips->symbol), back), named->line);
        at->next = skew->time->body;
        skew->time->body = at;
        for (size_t k = 0; k < skew->sweep_count; k++)
            cut_sweep(edit, skew, k, d, at->symbol);
    }
    return true;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    struct skew skew = {0};
    if (!nest_step_count(edit, step, 2, NEST_STEP_MAX_ARGS, refusal))
        return false;
    skew.time = nest_step_loop(edit, step, 0, refusal);
    if (!skew.time || !find_numbers(edit, step, &skew, refusal) ||
        !nest_counts_by_one(edit, skew.time, refusal) || !find_sweeps(edit, step, &skew, refusal))
        return false;
    if (!nest_has_fixed_bounds(edit->nest, skew.time))
        return nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                           skew.time->name);
    if (!depend_open(edit, skew.time, 1, &depend, refusal))
        return false;
    for (; skew.asked < skew.dimension_count; skew.asked++) {
        if (!depend_allows(depend, reorder, &skew, &(struct depend_opts){.relax_reductions = true},
                           &answer))
            return nest_refuse(edit, refusal, "%s", answer.why);
        if (!depend_may_relax(edit, &answer, refusal))
            return false;
    }
    return cut(edit, &skew, refusal);
}

static bool add_sweeps(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    struct nest_sweeps sweeps;
    (void)depth;
    if (!nest_find_sweeps(stmt, &sweeps))
        return true;
    const int size = nest_is_innermost(sweeps.first) ? 2048 : 32;
    for (int shift = 1; shift <= 2; shift++)
        nest_suggest(list, shift == 1 ? "skew(%s:8,%s:%d)" : "skew(%s:8,%s:%d,2)", stmt->name,
                     sweeps.first->name, size);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_sweeps, arena, out, capacity);
}

const struct nest_move nest_move_skew = {
    .name = "skew",
    .group = "structure",
    .intent = "takes strips of a grid through several time steps while they are in a cache",
    .parameters =
        "skew(TIME:STEPS,LOOP:SIZE,...); skew(TIME:STEPS,LOOP:SIZE,...,SHIFT): each sweep "
        "so many rounds behind the one before, 1 unless given; STEPS and SIZE 2 to 65536, "
        "such that SIZE and SHIFT * STEPS * sweeps rounds fit a cache",
    .precondition =
        "the body of loop TIME is sweeps with bounds of their own, and nothing that one "
        "needs lies further than SHIFT rounds behind or ahead in an earlier one",
    .effect = "one pass over memory for STEPS time steps",
    .breaks = "shorter loops at both ends of a strip",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

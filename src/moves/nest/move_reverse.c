/* reverse(i): the rounds in the other order. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || !nest_counts_upward(edit, loop, refusal))
        return false;
    if (loop->step != 1)
        return nest_refuse(edit, refusal, "the step of loop '%s' is not 1", loop->name);
    if (!nest_has_fixed_bounds(edit->nest, loop))
        return nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                           loop->name);
    if (!nest_counts_signed(loop))
        return nest_refuse(edit, refusal, "the counter or a bound of loop '%s' is unsigned",
                           loop->name);
    if (!depend_open(edit, loop, 1, &depend, refusal))
        return false;
    if (!depend_is_parallel(depend, loop, &(struct depend_opts){.relax_reductions = true}, &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    if (!depend_may_relax(edit, &answer, refusal))
        return false;
    const struct nest_expr *first = loop->from;
    loop->from = nest_index(edit, "-", nest_end(edit, loop), nest_number(edit, 1));
    loop->bound = first;
    loop->op = ">=";
    loop->step = -1;
    return true;
}

const struct nest_move nest_move_reverse = {
    .name = "reverse",
    .group = "structure",
    .intent = "runs a loop from its end, so that another move becomes legal",
    .parameters = "reverse(LOOP)",
    .precondition = "the loop counts upward by 1 and carries no dependence",
    .effect = "none by itself",
    .breaks = "a sum changes its order, where the task allows it",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

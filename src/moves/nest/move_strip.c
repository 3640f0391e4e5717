/* strip(i:32): the loop in strips of 32 rounds; the order of the rounds stays. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    int64_t size = 0;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || !nest_step_number(edit, step, 0, 2, &size, refusal))
        return false;
    return nest_strip(edit, loop, size, refusal) != NULL;
}

const struct nest_move nest_move_strip = {
    .name = "strip",
    .group = "structure",
    .intent = "cuts a loop into strips, which other moves then reorder",
    .parameters = "strip(LOOP:SIZE); SIZE 2 to 65536",
    .precondition = "the loop counts upward",
    .effect = "none by itself",
    .breaks = "a little control flow for each strip",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

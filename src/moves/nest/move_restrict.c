/* restrict(): the pointer parameters do not overlap, which the task's contract promises; but for
 * those of which it says that they are one buffer. */
#include "moves/edit.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    if (!nest_step_count(edit, step, 0, 0, refusal))
        return false;
    const char *signature =
        edit_restrict_signature(edit->nest->signature, edit->nest->task, edit->arena, refusal);
    if (signature)
        edit->nest->signature = signature;
    return signature != NULL;
}

const struct nest_move nest_move_restrict = {
    .name = "restrict",
    .group = "structure",
    .intent = "tells the compiler that the arguments do not overlap",
    .parameters = "restrict()",
    .precondition = "there is a pointer parameter without it that shares no buffer with another",
    .effect = "loads move over stores: values stay in registers",
    .breaks = "",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

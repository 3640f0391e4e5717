/* restrict(): the pointer parameters do not overlap, which the task's contract promises. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/buf.h"

#include <string.h>

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(buf_free) struct buf text = {0};
    bool has_changed = false;
    if (!nest_step_count(edit, step, 0, 0, refusal))
        return false;
    for (const char *at = edit->nest->signature; *at; at++) {
        (void)buf_append_char(&text, *at);
        const char *rest = at + 1 + strspn(at + 1, " \t\n");
        if (*at != '*' || strncmp(rest, "restrict", 8) == 0)
            continue;
        (void)buf_append_str(&text, "restrict ");
        has_changed = true;
    }
    if (!has_changed)
        return nest_refuse(edit, refusal, "no pointer parameter is without restrict");
    edit->nest->signature = arena_strdup(edit->arena, buf_text(&text));
    return true;
}

const struct nest_move nest_move_restrict = {
    .name = "restrict",
    .group = "structure",
    .intent = "tells the compiler that the arguments do not overlap",
    .parameters = "restrict()",
    .precondition = "there is a pointer parameter without it",
    .effect = "loads move over stores: values stay in registers",
    .breaks = "",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

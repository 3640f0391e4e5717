/* restrict(): the pointer parameters do not overlap, which the task's contract promises; but for
 * those of which it says that they are one buffer. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/buf.h"

#include <string.h>

/* The parameter of that place, or another, has its buffer too. */
static bool is_shared(const struct nest *nest, size_t place)
{
    return nest->task && place < nest->task->arg_count && task_arg_is_shared(nest->task, place);
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(buf_free) struct buf text = {0};
    bool has_changed = false;
    bool shares = false;
    size_t place = 0;
    if (!nest_step_count(edit, step, 0, 0, refusal))
        return false;
    for (const char *at = edit->nest->signature; *at; at++) {
        (void)buf_append_char(&text, *at);
        place += *at == ',';
        const char *rest = at + 1 + strspn(at + 1, " \t\n");
        if (*at != '*' || strncmp(rest, "restrict", 8) == 0)
            continue;
        shares = shares || is_shared(edit->nest, place);
        if (is_shared(edit->nest, place))
            continue;
        (void)buf_append_str(&text, "restrict ");
        has_changed = true;
    }
    if (!has_changed)
        return nest_refuse(edit, refusal,
                           shares ? "the pointers without restrict share one buffer, by the task's "
                                    "'alias'"
                                  : "no pointer parameter is without restrict");
    edit->nest->signature = arena_strdup(edit->arena, buf_text(&text));
    return true;
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

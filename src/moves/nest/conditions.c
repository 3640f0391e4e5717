/* Conditions that are known where they stand. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"

#include "base/str.h"

/* The condition without the parts that always hold; NULL: it always holds. `*never` where a part
 * can not. */
static const struct nest_expr *reduce(const struct nest_edit *edit, struct depend *depend,
                                      const struct nest_stmt *at, const struct nest_expr *condition,
                                      bool *never)
{
    if (condition->kind == NEST_BINARY && str_equal(condition->text, "&&")) {
        const struct nest_expr *left = reduce(edit, depend, at, condition->args[0], never);
        const struct nest_expr *right = reduce(edit, depend, at, condition->args[1], never);
        if (left == condition->args[0] && right == condition->args[1])
            return condition;
        return !left ? right : !right ? left : nest_binary(edit, "&&", left, right);
    }
    if (condition->kind == NEST_BINARY && str_equal(condition->text, "||")) {
        bool no_left = false;
        bool no_right = false;
        const struct nest_expr *left = reduce(edit, depend, at, condition->args[0], &no_left);
        const struct nest_expr *right = reduce(edit, depend, at, condition->args[1], &no_right);
        *never = *never || (no_left && no_right);
        if ((!left && !no_left) || (!right && !no_right))
            return NULL;
        return no_left && !no_right ? right : no_right && !no_left ? left : condition;
    }
    const int known = depend_decides(depend, at, condition);
    *never = *never || known < 0;
    return known > 0 ? NULL : condition;
}

static void drop_in(const struct nest_edit *edit, struct depend *depend, struct nest_stmt **first)
{
    for (struct nest_stmt **link = first; *link;) {
        struct nest_stmt *s = *link;
        drop_in(edit, depend, &s->body);
        drop_in(edit, depend, &s->otherwise);
        if (s->kind != NEST_IF) {
            link = &s->next;
            continue;
        }
        bool never = false;
        const struct nest_expr *left = reduce(edit, depend, s, s->value, &never);
        struct nest_stmt *taken = never ? s->otherwise : s->body;
        if (left && !never) {
            s->value = left;
            link = &s->next;
            continue;
        }
        /* A branch of its own scope keeps it. */
        if (taken && nest_list_has(taken, NEST_DECLARE)) {
            struct nest_stmt *block = nest_new_stmt(edit, NEST_BLOCK, s->line);
            block->body = taken;
            taken = block;
        }
        struct nest_stmt *rest = s->next;
        *link = taken ? nest_append(taken, rest) : rest;
        while (*link != rest)
            link = &(*link)->next;
    }
}

void nest_drop_conditions(struct nest_edit *edit, struct nest_stmt *loop)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    const char *refusal = NULL;
    if (nest_list_has(loop->body, NEST_IF) && depend_open_bounds(edit, loop, &depend, &refusal))
        drop_in(edit, depend, &loop->body);
}

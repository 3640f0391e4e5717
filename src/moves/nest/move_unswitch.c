/* unswitch(i): a condition in the body that is the same in every round is asked once, in front. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

static bool is_fixed_in(const struct nest_edit *edit, const struct nest_stmt *loop,
                        const struct nest_expr *condition)
{
    const struct nest_stmt bound = {.from = condition, .bound = condition};
    if (!nest_has_fixed_bounds(edit->nest, &bound) || nest_expr_uses(condition, loop->symbol))
        return false;
    for (const struct nest_stmt *s = loop->body; s; s = s->next) {
        if (s->kind == NEST_DECLARE && nest_expr_uses(condition, s->symbol))
            return false;
    }
    return true;
}

/* The place of the branch in a body: both copies have it at the same one. */
static struct nest_stmt **link_at(struct nest_stmt *loop, size_t place)
{
    struct nest_stmt **link = &loop->body;
    while (place-- > 0)
        link = &(*link)->next;
    return link;
}

static void take_branch(struct nest_edit *edit, struct nest_stmt **link, struct nest_stmt *branch)
{
    struct nest_stmt *rest = (*link)->next;
    if (branch && nest_list_has(branch, NEST_DECLARE)) {
        struct nest_stmt *block = nest_new_stmt(edit, NEST_BLOCK, branch->line);
        block->body = branch;
        branch = block;
    }
    *link = branch ? nest_append(branch, rest) : rest;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    size_t place = 0;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop)
        return false;
    struct nest_stmt *branch = loop->body;
    while (branch && !(branch->kind == NEST_IF && is_fixed_in(edit, loop, branch->value))) {
        branch = branch->next;
        place++;
    }
    if (!branch)
        return nest_refuse(edit, refusal,
                           "no condition in the body of loop '%s' is the same in every round",
                           loop->name);
    if (nest_list_has(loop->body, NEST_OPAQUE))
        return nest_refuse(edit, refusal, "loop '%s' holds a statement that is not understood",
                           loop->name);
    struct nest_stmt **link = nest_link(edit->nest, loop);
    struct nest_stmt *choice = nest_new_stmt(edit, NEST_IF, branch->line);
    struct nest_stmt *alone = arena_memdup(edit->arena, loop, sizeof *loop);
    alone->next = NULL;
    choice->value = branch->value;
    choice->next = loop->next;
    choice->otherwise = nest_copy_list(edit, alone);
    choice->body = loop;
    loop->next = NULL;
    *link = choice;
    struct nest_stmt **yes = link_at(loop, place);
    struct nest_stmt **no = link_at(choice->otherwise, place);
    take_branch(edit, yes, (*yes)->body);
    take_branch(edit, no, (*no)->otherwise);
    if (!choice->otherwise->body)
        choice->otherwise = NULL;
    return true;
}

const struct nest_move nest_move_unswitch = {
    .name = "unswitch",
    .group = "structure",
    .intent = "asks a condition that is the same in every round once, in front of the loop",
    .parameters = "unswitch(LOOP)",
    .precondition = "a condition in the body names neither the counter nor what is computed there",
    .effect = "no branch in the loop: it becomes vectors",
    .breaks = "twice the code",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

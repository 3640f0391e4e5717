/* fuse(i,i2): two neighbouring loops with the same bounds become one. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/str.h"

struct fusion {
    const struct nest_stmt *first, *second;
    int64_t offset; /* statements of the first body */
    int64_t gap;    /* from the one to the other in their list */
};

static void reorder(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct fusion *fusion = context;
    const size_t at = order_find(order, fusion->second);
    (void)stmt;
    if (at == order->count || at < 2)
        return;
    order->terms[at - 2].place -= fusion->gap; /* [place of the loop, 1, counter, place] */
    if (at + 1 < order->count)
        order->terms[at + 1].place += fusion->offset;
}

static bool same_bounds(const struct nest_stmt *a, const struct nest_stmt *b)
{
    return nest_expr_same(a->from, b->from) && nest_expr_same(a->bound, b->bound) &&
           str_equal(a->op, b->op) && a->step == b->step &&
           str_equal(a->symbol->type, b->symbol->type);
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    struct nest_stmt *first = nest_step_loop(edit, step, 0, refusal);
    struct nest_stmt *second = first ? nest_step_loop(edit, step, 1, refusal) : NULL;
    if (!second)
        return false;
    if (first == second || first->next != second)
        return nest_refuse(edit, refusal, "loop '%s' does not stand right behind loop '%s'",
                           second->name, first->name);
    if (!same_bounds(first, second) || !nest_has_fixed_bounds(edit->nest, first))
        return nest_refuse(edit, refusal, "loops '%s' and '%s' do not have the same fixed bounds",
                           first->name, second->name);
    struct fusion fusion = {.first = first, .second = second, .gap = 1};
    for (const struct nest_stmt *s = first->body; s; s = s->next)
        fusion.offset++;
    if (!depend_open(edit, first, 2, &depend, refusal))
        return false;
    if (!depend_allows(depend, reorder, &fusion, &(struct depend_opts){.relax_reductions = true},
                       &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    if (!depend_may_relax(edit, &answer, refusal))
        return false;
    nest_replace_in(edit, second->body, second->symbol, nest_name(edit, first->symbol));
    first->body = nest_append(first->body, second->body);
    first->next = second->next;
    return true;
}

static bool add_pair(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && stmt->next && stmt->next->kind == NEST_FOR &&
        same_bounds(stmt, stmt->next))
        nest_suggest(list, "fuse(%s,%s)", stmt->name, stmt->next->name);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_pair, arena, out, capacity);
}

const struct nest_move nest_move_fuse = {
    .name = "fuse",
    .group = "structure",
    .intent = "makes one loop of two, so that what the first wrote is read from a register",
    .parameters = "fuse(FIRST,SECOND)",
    .precondition = "the loops are neighbours with the same bounds, and nothing that the second "
                    "needs is made by a later round of the first",
    .effect = "one pass over memory in place of two",
    .breaks = "more values live at once",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

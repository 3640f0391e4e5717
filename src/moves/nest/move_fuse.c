/* fuse(i,i2): two neighbouring loops with the same bounds become one. fuse(i,i2:1): the second is a
 * round behind the first, so that it may read what the first makes for its next neighbour. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/str.h"

struct fusion {
    const struct nest_stmt *first, *second;
    int64_t offset; /* statements of the first body */
    int64_t gap;    /* from the one to the other in their list */
    int64_t shift;  /* rounds that the second is behind */
};

static void reorder(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct fusion *fusion = context;
    const size_t at = order_find(order, fusion->second);
    (void)stmt;
    if (at == order->count || at < 2)
        return;
    order->terms[at - 2].place -= fusion->gap; /* [place of the loop, 1, counter, place] */
    order->terms[at].place += fusion->shift;
    if (at + 1 < order->count)
        order->terms[at + 1].place += fusion->offset;
}

static bool same_bounds(const struct nest_stmt *a, const struct nest_stmt *b)
{
    return nest_expr_same(a->from, b->from) && nest_expr_same(a->bound, b->bound) &&
           str_equal(a->op, b->op) && a->step == b->step &&
           str_equal(a->symbol->type, b->symbol->type);
}

/* The rounds that stand alone: of the first in front of `both`, of the second behind it. Each of
 * them has all rounds where there are fewer than the shift. */
static void add_ends(struct nest_edit *edit, struct nest_stmt *first, struct nest_stmt *second,
                     int64_t shift)
{
    const struct nest_expr *rounds = nest_number(edit, shift);
    const struct nest_expr *from = first->from;
    const struct nest_expr *end = nest_end(edit, first);
    const struct nest_expr *begin = nest_index(edit, "+", from, rounds);
    const struct nest_expr *last = nest_index(edit, "-", end, rounds);
    struct nest_stmt *behind = second->next;
    first->next = second->next = NULL;
    struct nest_stmt *head = nest_copy_list(edit, first);
    struct nest_stmt *tail = nest_copy_list(edit, second);
    head->bound = nest_smaller(edit, begin, end);
    head->op = "<";
    tail->from = nest_larger(edit, last, from);
    first->from = begin;
    *nest_link(edit->nest, first) = head;
    head->next = first;
    first->next = tail;
    tail->next = behind;
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
    if (step->args[1].value && (!nest_step_number(edit, step, 1, 1, &fusion.shift, refusal) ||
                                !nest_counts_by_one(edit, first, refusal)))
        return false;
    for (const struct nest_stmt *s = first->body; s; s = s->next)
        fusion.offset++;
    if (!depend_open(edit, first, 2, &depend, refusal))
        return false;
    if (!depend_allows(depend, reorder, &fusion, &(struct depend_opts){.relax_reductions = true},
                       &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    if (!depend_may_relax(edit, &answer, refusal))
        return false;
    const struct nest_expr *round = nest_name(edit, first->symbol);
    if (fusion.shift > 0) {
        add_ends(edit, first, second, fusion.shift);
        round = nest_index(edit, "-", round, nest_number(edit, fusion.shift));
    } else {
        first->next = second->next;
    }
    nest_replace_in(edit, second->body, second->symbol, round);
    first->body = nest_append(first->body, second->body);
    return true;
}

static bool add_pair(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && stmt->next && stmt->next->kind == NEST_FOR &&
        same_bounds(stmt, stmt->next)) {
        nest_suggest(list, "fuse(%s,%s)", stmt->name, stmt->next->name);
        nest_suggest(list, "fuse(%s,%s:1)", stmt->name, stmt->next->name);
    }
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
    .parameters = "fuse(FIRST,SECOND); fuse(FIRST,SECOND:ROUNDS): SECOND so many rounds behind",
    .precondition = "the loops are neighbours with the same bounds, and nothing that the second "
                    "needs is made by a later round of the first; a later one by less than ROUNDS "
                    "is early enough",
    .effect = "one pass over memory in place of two",
    .breaks = "more values live at once",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

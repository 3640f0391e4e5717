/* distribute(i:2): a loop for the first two statements of the body and one for the others. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

struct distribution {
    const struct nest_stmt *loop;
    struct nest_stmt *second; /* the first statement of the second part */
    int64_t place;            /* its number in the body */
};

static void reorder(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct distribution *d = context;
    const size_t at = order_find(order, d->loop);
    (void)stmt;
    if (at == order->count || at + 1 == order->count)
        return;
    order_insert(order, at,
                 (struct order_term){.place = order->terms[at + 1].place >= d->place ? 1 : 0});
}

/* What the first part declares must not be needed by the second. */
static bool scopes_allow(const struct nest_edit *edit, const struct distribution *d,
                         const char **refusal)
{
    for (const struct nest_stmt *s = d->loop->body; s && s != d->second; s = s->next) {
        if (s->kind == NEST_DECLARE && nest_list_uses(d->second, s->symbol))
            return nest_refuse(edit, refusal,
                               "'%s' is declared in the first part and used in the second",
                               s->symbol->name);
    }
    return true;
}

static void cut(struct nest_edit *edit, struct nest_stmt *loop, struct nest_stmt *second)
{
    struct nest_stmt **end = &loop->body;
    while (*end != second)
        end = &(*end)->next;
    struct nest_stmt *more = nest_new_loop(edit, loop->symbol->name, loop->symbol->type, loop->from,
                                           loop->bound, loop->step, second, loop->line);
    more->op = loop->op;
    nest_replace_in(edit, second, loop->symbol, nest_name(edit, more->symbol));
    *end = NULL;
    more->next = loop->next;
    loop->next = more;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    int64_t first = 0;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || !nest_step_number(edit, step, 0, 1, &first, refusal))
        return false;
    struct distribution d = {.loop = loop, .second = loop->body, .place = first};
    for (int64_t i = 0; i < first && d.second; i++)
        d.second = d.second->next;
    if (!d.second)
        return nest_refuse(edit, refusal, "the body of loop '%s' has no more than %lld statements",
                           loop->name, (long long)first);
    if (!nest_has_fixed_bounds(edit->nest, loop))
        return nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                           loop->name);
    if (!scopes_allow(edit, &d, refusal) || !depend_open(edit, loop, 1, &depend, refusal))
        return false;
    if (!depend_allows(depend, reorder, &d, &(struct depend_opts){.relax_reductions = true},
                       &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    if (!depend_may_relax(edit, &answer, refusal))
        return false;
    cut(edit, loop, d.second);
    return true;
}

/* In front of and behind each inner loop. */
static bool add_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    int64_t place = 1;
    (void)depth;
    if (stmt->kind != NEST_FOR)
        return true;
    for (const struct nest_stmt *s = stmt->body; s && s->next; s = s->next, place++) {
        if (s->kind == NEST_FOR || s->next->kind == NEST_FOR)
            nest_suggest(list, "distribute(%s:%lld)", stmt->name, (long long)place);
    }
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_loop, arena, out, capacity);
}

const struct nest_move nest_move_distribute = {
    .name = "distribute",
    .group = "structure",
    .intent = "gives parts of a loop's body loops of their own, so that each can be reordered",
    .parameters = "distribute(LOOP:COUNT); the first COUNT statements go into the first loop",
    .precondition = "no dependence runs from the second part to the first of a later round, and "
                    "the second part needs no variable that the first declares",
    .effect = "none by itself: a nest becomes perfect",
    .breaks = "memory is passed over once more",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

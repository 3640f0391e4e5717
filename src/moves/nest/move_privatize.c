/* privatize(score,i): an array that every round of i fills anew before it reads it is declared in
 * the loop: rounds no longer wait for each other. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

static struct nest_stmt *find_declaration(struct nest_stmt *first, const struct nest_symbol *symbol)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind == NEST_DECLARE && s->symbol == symbol)
            return s;
        struct nest_stmt *found = find_declaration(s->body, symbol);
        if (!found)
            found = find_declaration(s->otherwise, symbol);
        if (found)
            return found;
    }
    return NULL;
}

/* Other statements than the loop and the declaration use it. */
static bool used_elsewhere(const struct nest_stmt *first, const struct nest_stmt *loop,
                           const struct nest_symbol *symbol)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if (s == loop || (s->kind == NEST_DECLARE && s->symbol == symbol))
            continue;
        if (nest_expr_uses(s->from, symbol) || nest_expr_uses(s->bound, symbol) ||
            nest_expr_uses(s->target, symbol) || nest_expr_uses(s->value, symbol) ||
            (s->kind == NEST_DECLARE && s->symbol->base == symbol) ||
            used_elsewhere(s->body, loop, symbol) || used_elsewhere(s->otherwise, loop, symbol))
            return true;
    }
    return false;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    struct nest_symbol *symbol = nest_step_symbol(edit, step, 0, refusal);
    struct nest_stmt *loop = symbol ? nest_step_loop(edit, step, 1, refusal) : NULL;
    if (!loop)
        return false;
    struct nest_stmt *declared = find_declaration(edit->nest->body, symbol);
    if (!declared || find_declaration(loop->body, symbol) || symbol->kind == NEST_POINTER)
        return nest_refuse(edit, refusal,
                           "'%s' is not declared in the function outside of loop '%s'",
                           symbol->name, loop->name);
    if (nest_list_has(edit->nest->body, NEST_OPAQUE))
        return nest_refuse(edit, refusal, "a statement is not understood: it may use '%s'",
                           symbol->name);
    if (used_elsewhere(edit->nest->body, loop, symbol))
        return nest_refuse(edit, refusal, "'%s' is used outside of loop '%s'", symbol->name,
                           loop->name);
    if (!depend_open(edit, loop, 1, &depend, refusal))
        return false;
    if (!depend_is_private(depend, loop, symbol))
        return nest_refuse(edit, refusal,
                           "a round of loop '%s' may read of '%s' what it has not written",
                           loop->name, symbol->name);
    struct nest_stmt **link = nest_link(edit->nest, declared);
    *link = declared->next;
    declared->value = NULL;
    declared->next = loop->body;
    loop->body = declared;
    symbol->type = nest_plain_type(edit, symbol->type);
    return true;
}

static bool add_array(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    if (stmt->kind != NEST_DECLARE || stmt->symbol->kind != NEST_ARRAY || depth > 0)
        return true;
    for (const struct nest_stmt *s = list->nest->body; s; s = s->next) {
        if (s->kind == NEST_FOR && nest_list_uses(s, stmt->symbol) &&
            !used_elsewhere(list->nest->body, s, stmt->symbol))
            nest_suggest(list, "privatize(%s,%s)", stmt->symbol->name, s->name);
    }
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_array, arena, out, capacity);
}

const struct nest_move nest_move_privatize = {
    .name = "privatize",
    .group = "data",
    .intent = "gives each round of a loop its own copy of a scratch array or variable",
    .parameters = "privatize(ARRAY,LOOP)",
    .precondition = "it is declared in the function, used in the loop only, and each round writes "
                    "what it reads of it",
    .effect = "the loop carries no dependence on it any more",
    .breaks = "",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

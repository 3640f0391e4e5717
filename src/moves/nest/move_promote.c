/* promote(c,p): the one element of c that a loop uses is kept in a variable meanwhile. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

struct promotion {
    const struct nest_symbol *array;
    const struct nest_expr *element; /* the one in use */
    bool is_one, is_written;
};

static bool look_at(void *context, const struct nest_expr *expr, bool is_target)
{
    struct promotion *p = context;
    if (expr->symbol != p->array)
        return true;
    if (expr->kind != NEST_ACCESS || (p->element && !nest_expr_same(p->element, expr)))
        p->is_one = false;
    p->element = expr;
    p->is_written = p->is_written || is_target;
    return p->is_one;
}

static bool look_at_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    struct promotion *p = context;
    (void)depth;
    if (stmt->kind == NEST_OPAQUE)
        p->is_one = false;
    return p->is_one && nest_walk_exprs(stmt, look_at, p);
}

/* Something that the loop counts or declares is in the subscripts. */
static bool varies(void *context, struct nest_stmt *stmt, int depth)
{
    const struct nest_expr *element = context;
    (void)depth;
    return !((stmt->kind == NEST_FOR || stmt->kind == NEST_DECLARE) &&
             nest_expr_uses(element, stmt->symbol));
}

static const struct nest_expr *replace_element(const struct nest_edit *edit,
                                               const struct nest_expr *expr,
                                               const struct nest_expr *element,
                                               const struct nest_expr *with)
{
    if (!expr || !nest_expr_uses(expr, element->symbol))
        return expr;
    if (expr->kind == NEST_ACCESS && expr->symbol == element->symbol)
        return with;
    struct nest_expr *copy = arena_memdup(edit->arena, expr, sizeof *expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = replace_element(edit, expr->args[i], element, with);
    return copy;
}

static void replace_in(const struct nest_edit *edit, struct nest_stmt *first,
                       const struct nest_expr *element, const struct nest_expr *with)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        s->from = replace_element(edit, s->from, element, with);
        s->bound = replace_element(edit, s->bound, element, with);
        s->target = replace_element(edit, s->target, element, with);
        s->value = replace_element(edit, s->value, element, with);
        if (s->kind == NEST_DECLARE)
            s->symbol->offset = replace_element(edit, s->symbol->offset, element, with);
        replace_in(edit, s->body, element, with);
        replace_in(edit, s->otherwise, element, with);
    }
}

/* The loop runs at least once: else its element need not be there. */
static bool runs(struct nest_edit *edit, const struct nest_stmt *loop)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    const char *refusal = NULL;
    const struct nest_expr *end = nest_end(edit, loop);
    return end && depend_open_bounds(edit, loop, &depend, &refusal) &&
           depend_decides(depend, loop, nest_binary(edit, "<", loop->from, end)) > 0;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    const struct nest_symbol *array = nest_step_symbol(edit, step, 0, refusal);
    struct nest_stmt *loop = array ? nest_step_loop(edit, step, 1, refusal) : NULL;
    if (!loop)
        return false;
    struct promotion p = {.array = array, .is_one = array->kind == NEST_ARRAY};
    struct nest_stmt alone = *loop;
    alone.next = NULL;
    (void)nest_walk(&alone, look_at_stmt, &p);
    /* A pointer into it, wherever that is declared, is another way to its elements. */
    if (!p.is_one || !p.element || nest_list_points_into(&alone, array))
        return nest_refuse(edit, refusal, "loop '%s' does not use one element of '%s' only",
                           loop->name, array->name);
    struct nest_expr *subscripts = arena_memdup(edit->arena, p.element, sizeof *p.element);
    for (size_t i = 0; i < subscripts->arg_count; i++) {
        const struct nest_stmt bound = {.from = subscripts->args[i], .bound = subscripts->args[i]};
        if (!nest_has_fixed_bounds(edit->nest, &bound) || !nest_walk(&alone, varies, subscripts))
            return nest_refuse(edit, refusal, "the element of '%s' is not the same in every round",
                               array->name);
    }
    if (array->is_parameter && !runs(edit, loop))
        return nest_refuse(edit, refusal, "loop '%s' may not run, and then '%s' is not touched",
                           loop->name, array->name);
    struct nest_stmt **link = nest_link(edit->nest, loop);
    struct nest_stmt *kept =
        nest_new_variable(edit, arena_printf(edit->arena, "%s_v", array->name),
                          nest_plain_type(edit, array->type), p.element, loop->line);
    const struct nest_expr *name = nest_name(edit, kept->symbol);
    kept->symbol->is_written = p.is_written;
    if (p.is_written) {
        struct nest_stmt *store = nest_assign(edit, p.element, "=", name, loop->line);
        store->next = loop->next;
        loop->next = store;
    }
    replace_in(edit, loop->body, p.element, name);
    kept->next = loop;
    *link = kept;
    return true;
}

const struct nest_move nest_move_promote = {
    .name = "promote",
    .group = "data",
    .intent = "keeps the one element of an array that a loop uses in a variable meanwhile",
    .parameters = "promote(ARRAY,LOOP)",
    .precondition = "the loop uses one element of the array only, by no pointer, which is the same "
                    "in every round, and it runs at least once or the array is local",
    .effect = "no load and store in every round; the loop is a plain reduction",
    .breaks = "",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

/* expand(sum,j): a variable of each round of j becomes an element of an array, so that the loop can
 * be distributed and interchanged. The loop must be short: a strip. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include <string.h>

enum { MOST_ROUNDS = 4096 };

struct expansion {
    struct nest_edit *edit;
    const struct nest_symbol *from;
    struct nest_symbol *to;
    const struct nest_expr *index; /* which round */
};

static const struct nest_expr *expand_expr(const struct expansion *x, const struct nest_expr *expr)
{
    if (!expr || !nest_expr_uses(expr, x->from))
        return expr;
    const struct nest_expr *subscripts[NEST_MAX_DIMENSIONS] = {x->index};
    size_t count = 1;
    if (expr->symbol == x->from) {
        for (size_t i = 0; i < expr->arg_count; i++)
            subscripts[count++] = expand_expr(x, expr->args[i]);
        return nest_access(x->edit, x->to, subscripts, count);
    }
    struct nest_expr *copy = arena_memdup(x->edit->arena, expr, sizeof *expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = expand_expr(x, expr->args[i]);
    return copy;
}

/* The list with the variable's declaration as an assignment, or gone where it has no value. */
static void expand_list(const struct expansion *x, struct nest_stmt **first)
{
    for (struct nest_stmt **at = first; *at;) {
        struct nest_stmt *s = *at;
        s->from = expand_expr(x, s->from);
        s->bound = expand_expr(x, s->bound);
        s->target = expand_expr(x, s->target);
        s->value = expand_expr(x, s->value);
        expand_list(x, &s->body);
        expand_list(x, &s->otherwise);
        if (s->kind != NEST_DECLARE || s->symbol != x->from) {
            at = &s->next;
            continue;
        }
        if (!s->value) {
            *at = s->next;
            continue;
        }
        *s = (struct nest_stmt){.kind = NEST_ASSIGN,
                                .line = s->line,
                                .next = s->next,
                                .target = nest_access(x->edit, x->to, &x->index, 1),
                                .op = "=",
                                .value = s->value};
        at = &s->next;
    }
}

/* A pointer into it, or it as a whole given to a function. */
static bool is_used_whole(const struct nest_expr *expr, const struct nest_symbol *symbol)
{
    if (!expr)
        return false;
    if (expr->kind == NEST_NAME && expr->symbol == symbol && symbol->kind == NEST_ARRAY)
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (is_used_whole(expr->args[i], symbol))
            return true;
    }
    return false;
}

static bool find_whole(void *context, struct nest_stmt *stmt, int depth)
{
    const struct nest_symbol *symbol = context;
    (void)depth;
    return !is_used_whole(stmt->value, symbol) && !is_used_whole(stmt->target, symbol) &&
           !is_used_whole(stmt->bound, symbol) && !is_used_whole(stmt->from, symbol);
}

static struct nest_stmt *find_declaration(struct nest_stmt *first, const struct nest_symbol *symbol)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind == NEST_DECLARE && s->symbol == symbol)
            return s;
    }
    return NULL;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    int64_t rounds = 0;
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    struct nest_symbol *symbol = nest_step_symbol(edit, step, 0, refusal);
    struct nest_stmt *loop = symbol ? nest_step_loop(edit, step, 1, refusal) : NULL;
    if (!loop)
        return false;
    struct nest_stmt *declared = find_declaration(loop->body, symbol);
    if (!declared || (symbol->kind != NEST_SCALAR && symbol->kind != NEST_ARRAY))
        return nest_refuse(edit, refusal, "'%s' is not declared in the body of loop '%s'",
                           symbol->name, loop->name);
    if (symbol->rank == NEST_MAX_DIMENSIONS || !nest_walk(loop->body, find_whole, symbol) ||
        nest_list_points_into(loop->body, symbol))
        return nest_refuse(edit, refusal, "'%s' is used as a whole", symbol->name);
    if (nest_text_names(loop->body, symbol->name))
        return nest_refuse(edit, refusal,
                           "'%s' is named in a statement of loop '%s' that is kept as text",
                           symbol->name, loop->name);
    if (!nest_widest(edit, loop, &rounds) || rounds > MOST_ROUNDS)
        return nest_refuse(edit, refusal, "loop '%s' may have more than %d rounds: strip it first",
                           loop->name, MOST_ROUNDS);
    struct expansion x = {.edit = edit, .from = symbol};
    x.to = nest_new_symbol(edit, NEST_ARRAY, arena_printf(edit->arena, "%s_x", symbol->name),
                           nest_plain_type(edit, symbol->type));
    x.to->is_written = true;
    x.to->rank = symbol->rank + 1;
    x.to->dimensions[0] = nest_number(edit, rounds);
    memcpy(&x.to->dimensions[1], symbol->dimensions, symbol->rank * sizeof *symbol->dimensions);
    x.index = nest_index(edit, "-", nest_name(edit, loop->symbol), loop->from);
    expand_list(&x, &loop->body);
    struct nest_stmt **link = nest_link(edit->nest, loop);
    struct nest_stmt *array = nest_new_stmt(edit, NEST_DECLARE, loop->line);
    array->symbol = x.to;
    array->next = loop;
    *link = array;
    return true;
}

/* Scalars that a loop inside accumulates into. */
static bool add_scalars(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    if (stmt->kind != NEST_FOR || nest_is_innermost(stmt))
        return true;
    for (const struct nest_stmt *s = stmt->body; s; s = s->next) {
        if (s->kind == NEST_DECLARE && nest_list_assigns(stmt->body, s->symbol))
            nest_suggest(list, "expand(%s,%s)", s->symbol->name, stmt->name);
    }
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_scalars, arena, out, capacity);
}

const struct nest_move nest_move_expand = {
    .name = "expand",
    .group = "data",
    .intent = "gives each round of a short loop its own element for a variable, so that the loop "
              "can go inside",
    .parameters = "expand(VARIABLE,LOOP)",
    .precondition = "the variable is declared in the body of the loop, whose rounds are at most "
                    "4096 (a strip)",
    .effect = "none by itself: distribute and interchange become legal",
    .breaks = "values go through the first cache in place of registers",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

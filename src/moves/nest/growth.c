/* A sequence as it grows. */
#include "moves/nest/growth.h"

#include "moves/nest/affine.h"

#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool grow(struct growth *g, const char *format, ...)
{
    char step[256];
    struct nest *next = NULL;
    const char *refusal = NULL;
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(step, sizeof step, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof step ||
        !nest_apply(g->now, step, &g->target, g->arena, &next, &refusal))
        return false;
    const char *steps =
        g->steps ? arena_printf(g->arena, "%s;%s", g->steps, step) : arena_strdup(g->arena, step);
    if (strlen(steps) > NEST_MAX_STEPS_BYTES)
        return false;
    g->steps = steps;
    g->now = next;
    return true;
}

/* --- names -------------------------------------------------------------------------------------
 */

static bool note_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct names *names = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && names->count < sizeof names->items / sizeof *names->items)
        names->items[names->count++] = stmt->name;
    return true;
}

struct names names_of_loops(const struct nest *nest)
{
    struct names names = {0};
    (void)nest_walk(nest->body, note_loop, &names);
    return names;
}

struct names names_declared_in(const struct nest *nest, const char *loop)
{
    struct names names = {0};
    const struct nest_stmt *found = nest_find_loop(nest, loop);
    for (const struct nest_stmt *s = found ? found->body : NULL; s; s = s->next) {
        if (s->kind == NEST_DECLARE && s->symbol->kind != NEST_POINTER &&
            names.count < sizeof names.items / sizeof *names.items)
            names.items[names.count++] = s->symbol->name;
    }
    return names;
}

/* --- sums --------------------------------------------------------------------------------------
 */

bool find_contraction(const struct nest_stmt *loop, struct contraction *out)
{
    bool has_variable = false;
    if (!loop || loop->kind != NEST_FOR)
        return false;
    for (const struct nest_stmt *s = loop->body; s; s = s->next) {
        if (s->kind == NEST_DECLARE && s->symbol->kind == NEST_SCALAR && s->next &&
            nest_list_assigns(s->next, s->symbol))
            has_variable = true;
        if (s->kind != NEST_FOR)
            continue;
        *out = (struct contraction){.outer = loop, .sum = s, .inner = s};
        while (nest_only_loop(out->inner))
            out->inner = nest_only_loop(out->inner);
        return has_variable;
    }
    return false;
}

struct strides {
    const struct nest_symbol *counter;
    int good, bad;
};

/* How far apart neighbouring rounds of the loop are in memory: 0 or 1 is good. */
static bool note_stride(void *context, const struct nest_expr *expr, bool is_target)
{
    struct strides *strides = context;
    struct poly poly;
    (void)is_target;
    if (expr->kind != NEST_ACCESS)
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        const bool is_last = i + 1 == expr->arg_count;
        bool is_bad = !poly_of(expr->args[i], &poly);
        bool uses = is_bad;
        for (size_t t = 0; !is_bad && t < poly.count; t++) {
            for (size_t s = 0; s < poly.terms[t].degree; s++) {
                if (poly.terms[t].symbols[s] != strides->counter)
                    continue;
                uses = true;
                is_bad =
                    is_bad || poly.terms[t].degree > 1 || poly.terms[t].factor != 1 || !is_last;
            }
        }
        strides->bad += is_bad;
        strides->good += uses && !is_bad;
    }
    return true;
}

static bool walk_strides(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, note_stride, context);
}

static int bad_strides(const struct nest_stmt *in, const struct nest_symbol *counter)
{
    struct strides strides = {.counter = counter};
    (void)nest_walk(in->body, walk_strides, &strides);
    return strides.bad;
}

bool contraction_should_turn(const struct contraction *c)
{
    return bad_strides(c->inner, c->outer->symbol) <= bad_strides(c->inner, c->inner->symbol);
}

/* Does the expression depend on the counter, perhaps by a helper variable? */
static bool depends_on(const struct nest_stmt *body, const struct nest_expr *expr,
                       const struct nest_symbol *counter)
{
    if (nest_expr_uses(expr, counter))
        return true;
    for (const struct nest_stmt *s = body; s; s = s->next) {
        if (s->kind == NEST_DECLARE && s->value && s->symbol->is_integer &&
            nest_expr_uses(expr, s->symbol) && nest_expr_uses(s->value, counter))
            return true;
    }
    return false;
}

struct sharing {
    const struct nest_stmt *body; /* of the innermost loop, with its helper variables */
    const struct nest_symbol *vector, *outer;
    const struct nest_symbol *found; /* the last array that depends on `vector` alone */
    int count;
};

static bool note_shared(void *context, const struct nest_expr *expr, bool is_target)
{
    struct sharing *sharing = context;
    (void)is_target;
    if (expr->kind == NEST_ACCESS && depends_on(sharing->body, expr, sharing->vector) &&
        !depends_on(sharing->body, expr, sharing->outer)) {
        sharing->found = expr->symbol;
        sharing->count++;
    }
    return true;
}

static bool walk_shared(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, note_shared, context);
}

const struct nest_stmt *contraction_sharer(const struct nest *nest, const struct contraction *c)
{
    struct nest_stmt *around[NEST_MAX_DEPTH];
    const struct nest_stmt *best = NULL;
    int most = 0;
    const size_t depth = nest_loops_around(nest, c->outer, around);
    for (size_t i = 0; i < depth; i++) {
        struct sharing sharing = {
            .body = c->inner->body, .vector = c->outer->symbol, .outer = around[i]->symbol};
        (void)nest_walk(c->inner->body, walk_shared, &sharing);
        if (sharing.count <= most)
            continue;
        most = sharing.count;
        best = around[i];
    }
    return best;
}

const struct nest_symbol *contraction_shared_array(const struct contraction *c,
                                                   const struct nest_stmt *sharer)
{
    struct sharing sharing = {
        .body = c->inner->body, .vector = sharer->symbol, .outer = c->outer->symbol};
    (void)nest_walk(c->inner->body, walk_shared, &sharing);
    return sharing.found;
}

/* --- borders and scratch arrays ----------------------------------------------------------------
 */

static size_t count_parts(const struct nest_expr *condition)
{
    return condition->kind == NEST_BINARY &&
                   (str_equal(condition->text, "&&") || str_equal(condition->text, "||"))
               ? count_parts(condition->args[0]) + count_parts(condition->args[1])
               : 1;
}

static bool count_conditions(void *context, struct nest_stmt *stmt, int depth)
{
    size_t *count = context;
    (void)depth;
    if (stmt->kind == NEST_IF)
        *count += count_parts(stmt->value);
    return true;
}

size_t count_conditions_in(const struct nest *nest, const char *loop)
{
    size_t count = 0;
    struct nest_stmt *found = nest_find_loop(nest, loop);
    if (found)
        (void)nest_walk(found->body, count_conditions, &count);
    return count;
}

/* Runs over a size, not over a few fixed places. */
static bool is_long(const struct nest_stmt *loop)
{
    int64_t bound = 0;
    return !nest_is_number(loop->bound, &bound);
}

void peel_borders(struct growth *g, const struct names *loops)
{
    for (size_t i = loops->count; i-- > 0;) {
        const struct growth before = *g;
        const char *name = loops->items[i];
        const size_t asked = count_conditions_in(g->now, name);
        if (asked == 0 || !is_long(nest_find_loop(g->now, name)) || !grow(g, "peel(%s:1)", name))
            continue;
        if (count_conditions_in(g->now, name) >= asked)
            *g = before;
    }
}

static bool note_array(void *context, struct nest_stmt *stmt, int depth)
{
    struct names *names = context;
    if (stmt->kind == NEST_DECLARE && stmt->symbol->kind == NEST_ARRAY && depth == 0 &&
        names->count < sizeof names->items / sizeof *names->items)
        names->items[names->count++] = stmt->symbol->name;
    return true;
}

void privatize_all(struct growth *g)
{
    struct names arrays = {0};
    (void)nest_walk(g->now->body, note_array, &arrays);
    for (size_t i = 0; i < arrays.count; i++) {
        const struct names loops = names_of_loops(g->now);
        for (size_t l = 0; l < loops.count; l++) {
            if (grow(g, "privatize(%s,%s)", arrays.items[i], loops.items[l]))
                break;
        }
    }
}

/* --- copies of pack() --------------------------------------------------------------------------
 */

/* The first loop of the list or of the branches in it. */
static const struct nest_stmt *first_loop(const struct nest_stmt *first)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        const struct nest_stmt *found = s->kind == NEST_IF    ? first_loop(s->body)
                                        : s->kind == NEST_FOR ? s
                                                              : NULL;
        if (found)
            return found;
    }
    return NULL;
}

void turn_copy(struct growth *g, const char *loop, bool is_in_front)
{
    const struct nest_stmt *packed = nest_find_loop(g->now, loop);
    const struct nest_stmt *in = packed && is_in_front ? nest_parent(g->now, packed) : packed;
    const struct nest_stmt *outer = in ? first_loop(in->body) : NULL;
    const struct nest_stmt *inner = outer ? nest_only_loop(outer) : NULL;
    struct growth turned = *g;
    while (inner && nest_only_loop(inner)) {
        outer = inner;
        inner = nest_only_loop(inner);
    }
    if (inner && grow(&turned, "interchange(%s,%s)", outer->name, inner->name) &&
        grow(&turned, "transpose(%s,%s)", inner->name, outer->name))
        *g = turned;
}

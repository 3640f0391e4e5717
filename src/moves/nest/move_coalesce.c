/* coalesce(i,j): two loops directly in each other become one, ij, in the same order. */
#include "moves/nest/affine.h"
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/str.h"

#include <string.h>

struct coalescing {
    struct nest_edit *edit;
    struct nest_stmt *outer, *inner;
    const struct nest_expr *width; /* rounds of the inner loop */
    struct poly place;             /* how many rounds were before: what the new counter counts */
    const struct nest_symbol *counter;
};

/* --- what the new counter stands for -----------------------------------------------------------
 */

static bool uses_counters(const struct coalescing *c, const struct nest_expr *expr)
{
    return nest_expr_uses(expr, c->outer->symbol) || nest_expr_uses(expr, c->inner->symbol);
}

static const struct nest_expr *expr_of(const struct coalescing *c, const struct poly *poly,
                                       const struct nest_expr *sum)
{
    struct nest_edit *edit = c->edit;
    for (size_t t = 0; t < poly->count; t++) {
        const struct poly_term *term = &poly->terms[t];
        const bool is_negative = term->factor < 0;
        const struct nest_expr *product =
            nest_number(edit, is_negative ? -term->factor : term->factor);
        for (size_t s = 0; s < term->degree; s++)
            product = nest_index(edit, "*", product, nest_name(edit, term->symbols[s]));
        sum = nest_index(edit, is_negative ? "-" : "+", sum, product);
    }
    return sum;
}

static bool names_counter(const struct coalescing *c, const struct poly *poly)
{
    for (size_t t = 0; t < poly->count; t++) {
        for (size_t s = 0; s < poly->terms[t].degree; s++) {
            if (poly->terms[t].symbols[s] == c->outer->symbol ||
                poly->terms[t].symbols[s] == c->inner->symbol)
                return true;
        }
    }
    return false;
}

/* "2 * (i * m + j) + k" is 2 * ij + k; NULL where the counters stand otherwise. */
static const struct nest_expr *by_place(const struct coalescing *c, const struct nest_expr *expr)
{
    struct poly poly;
    int64_t factor = 0;
    if (!nest_is_integer(expr) || !poly_of(expr, &poly))
        return NULL;
    for (size_t t = 0; t < poly.count; t++) {
        if (poly.terms[t].degree == 1 && poly.terms[t].symbols[0] == c->inner->symbol)
            factor = poly.terms[t].factor;
    }
    if (factor == 0 || !poly_add(&poly, &c->place, -factor) || names_counter(c, &poly))
        return NULL;
    return expr_of(
        c, &poly,
        nest_index(c->edit, "*", nest_number(c->edit, factor), nest_name(c->edit, c->counter)));
}

static const struct nest_expr *rewrite_expr(const struct coalescing *c,
                                            const struct nest_expr *expr)
{
    if (!expr || !uses_counters(c, expr))
        return expr;
    const struct nest_expr *place = by_place(c, expr);
    if (place)
        return place;
    struct nest_expr *copy = arena_memdup(c->edit->arena, expr, sizeof *expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = rewrite_expr(c, expr->args[i]);
    return copy;
}

/* Pointers keep where they begin, and arrays how large they are, in their symbol too. */
static void rewrite_symbol(const struct coalescing *c, struct nest_symbol *symbol)
{
    symbol->offset = rewrite_expr(c, symbol->offset);
    for (size_t d = 0; d < symbol->rank; d++)
        symbol->dimensions[d] = rewrite_expr(c, symbol->dimensions[d]);
}

static void rewrite_list(const struct coalescing *c, struct nest_stmt *first)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        s->from = rewrite_expr(c, s->from);
        s->bound = rewrite_expr(c, s->bound);
        s->target = rewrite_expr(c, s->target);
        s->value = rewrite_expr(c, s->value);
        if (s->kind == NEST_DECLARE)
            rewrite_symbol(c, s->symbol);
        rewrite_list(c, s->body);
        rewrite_list(c, s->otherwise);
    }
}

/* "const int64_t i_at = ij / m;" in front of the body, where it still speaks of the counter. */
static void declare_rest(struct coalescing *c, const struct nest_stmt *loop, const char *op)
{
    struct nest_edit *edit = c->edit;
    const struct nest_expr *value = nest_binary(edit, op, nest_name(edit, c->counter), c->width);
    if (!nest_list_uses(c->outer->body, loop->symbol))
        return;
    struct nest_stmt *declared =
        nest_new_variable(edit, arena_printf(edit->arena, "%s_at", loop->name), "const int64_t",
                          nest_index(edit, "+", value, loop->from), loop->line);
    declared->symbol->is_integer = true;
    nest_replace_in(edit, c->outer->body, loop->symbol, nest_name(edit, declared->symbol));
    declared->next = c->outer->body;
    c->outer->body = declared;
}

/* --- the step ----------------------------------------------------------------------------------
 */

/* All that the expression names has 64 bits: so have products of it. */
static bool is_wide(const struct nest_expr *expr)
{
    if (expr->kind == NEST_ACCESS || expr->kind == NEST_CALL || expr->kind == NEST_CAST)
        return false;
    if (expr->kind == NEST_NAME)
        return strstr(expr->symbol->type, "int64_t") || strstr(expr->symbol->type, "ptrdiff_t") ||
               strstr(expr->symbol->type, "long");
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!is_wide(expr->args[i]))
            return false;
    }
    return true;
}

static bool check_loop(const struct coalescing *c, const struct nest_stmt *loop,
                       const char **refusal)
{
    struct nest_edit *edit = c->edit;
    if (loop->pragma)
        return nest_refuse(edit, refusal, "loop '%s' has a pragma", loop->name);
    if (!nest_counts_upward(edit, loop, refusal))
        return false;
    if (loop->step != 1 || !nest_end(edit, loop) || !nest_has_fixed_bounds(edit->nest, loop))
        return nest_refuse(edit, refusal, "loop '%s' does not count by 1 between fixed bounds",
                           loop->name);
    const struct nest_expr counter = {.kind = NEST_NAME, .symbol = loop->symbol};
    if (!nest_counts_signed(loop) || !is_wide(&counter) || !is_wide(loop->from) ||
        !is_wide(loop->bound))
        return nest_refuse(edit, refusal, "loop '%s' does not count in signed 64 bits", loop->name);
    return true;
}

/* How many rounds both have: those of the inner loop may be none, or fewer. */
static const struct nest_expr *rounds_of(const struct coalescing *c)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct nest_edit *edit = c->edit;
    const char *refusal = NULL;
    const struct nest_expr *end = nest_end(edit, c->inner);
    const struct nest_expr *rounds = nest_index(
        edit, "*", nest_index(edit, "-", nest_end(edit, c->outer), c->outer->from), c->width);
    if (depend_open_bounds(edit, c->inner, &depend, &refusal) &&
        depend_decides(depend, c->inner, nest_binary(edit, "<", c->inner->from, end)) > 0)
        return rounds;
    return nest_conditional(edit, nest_binary(edit, "<", c->inner->from, end), rounds,
                            nest_number(edit, 0));
}

/* (i - from) * width + j - from, as a polynomial. */
static bool find_place(struct coalescing *c)
{
    struct nest_edit *edit = c->edit;
    const struct nest_expr *rows =
        nest_index(edit, "-", nest_name(edit, c->outer->symbol), c->outer->from);
    const struct nest_expr *column =
        nest_index(edit, "-", nest_name(edit, c->inner->symbol), c->inner->from);
    return poly_of(nest_index(edit, "+", nest_index(edit, "*", rows, c->width), column), &c->place);
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct coalescing c = {.edit = edit};
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    c.outer = nest_step_loop(edit, step, 0, refusal);
    c.inner = c.outer ? nest_step_loop(edit, step, 1, refusal) : NULL;
    if (!c.inner)
        return false;
    if (nest_only_loop(c.outer) != c.inner)
        return nest_refuse(edit, refusal, "loop '%s' is not all there is in loop '%s'",
                           c.inner->name, c.outer->name);
    if (!check_loop(&c, c.outer, refusal) || !check_loop(&c, c.inner, refusal))
        return false;
    if (nest_expr_uses(c.inner->from, c.outer->symbol) ||
        nest_expr_uses(c.inner->bound, c.outer->symbol))
        return nest_refuse(edit, refusal, "the bounds of loop '%s' depend on loop '%s'",
                           c.inner->name, c.outer->name);
    if (nest_list_has(c.inner->body, NEST_OPAQUE))
        return nest_refuse(edit, refusal, "the loops hold what is not understood");
    c.width = nest_index(edit, "-", nest_end(edit, c.inner), c.inner->from);
    if (!find_place(&c))
        return nest_refuse(edit, refusal, "the bounds of loop '%s' are no polynomials",
                           c.inner->name);
    const struct nest_expr *rounds = rounds_of(&c);
    struct nest_stmt **link = nest_link(edit->nest, c.outer);
    struct nest_stmt *loop =
        nest_new_loop(edit, arena_printf(edit->arena, "%s%s", c.outer->name, c.inner->name),
                      "int64_t", nest_number(edit, 0), rounds, 1, c.inner->body, c.outer->line);
    c.counter = loop->symbol;
    loop->next = c.outer->next;
    *link = loop;
    rewrite_list(&c, loop->body);
    c.outer->body = loop->body;
    declare_rest(&c, c.inner, "%");
    declare_rest(&c, c.outer, "/");
    loop->body = c.outer->body;
    return true;
}

static bool add_pair(void *context, struct nest_stmt *stmt, int depth)
{
    const struct nest_stmt *inner = stmt->kind == NEST_FOR ? nest_only_loop(stmt) : NULL;
    (void)depth;
    if (inner && nest_is_innermost(inner))
        nest_suggest(context, "coalesce(%s,%s)", stmt->name, inner->name);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_pair, arena, out, capacity);
}

const struct nest_move nest_move_coalesce = {
    .name = "coalesce",
    .group = "structure",
    .intent = "makes one loop of two that hang directly in each other, in the same order",
    .parameters = "coalesce(OUTER,INNER)",
    .precondition = "INNER is all there is in OUTER, both count by 1 in signed 64 bits between "
                    "bounds that do not change",
    .effect = "short rows fill vectors, and have no rest each: up to 10 times where rows are "
              "shorter than a vector",
    .breaks = "a division in every round where the body speaks of a counter alone",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

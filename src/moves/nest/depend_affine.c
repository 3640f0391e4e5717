/* Affine forms, bounds and conditions as isl's text. */
#include "moves/nest/depend_internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

bool depend_is_assigned(const struct depend *d, const struct nest_symbol *symbol)
{
    for (size_t i = 0; i < d->assigned_count; i++) {
        if (d->assigned[i] == symbol)
            return true;
    }
    return false;
}

bool depend_is_inner(const struct depend *d, const struct nest_symbol *counter)
{
    for (size_t i = 0; i < d->inner_count; i++) {
        if (d->inner[i]->symbol == counter)
            return true;
    }
    return false;
}

const char *depend_counter(struct depend *d, const struct nest_stmt *loop, int as)
{
    return arena_printf(d->arena, "%c_%s", as == AS_SOURCE ? 's' : 't', loop->symbol->name);
}

static const char *parameter(struct depend *d, const char *name)
{
    for (size_t i = 0; i < d->param_count; i++) {
        if (str_equal(d->params[i], name))
            return d->params[i];
    }
    if (d->param_count == DEPEND_MAX_PARAMS)
        return NULL;
    return d->params[d->param_count++] = name;
}

/* The declaration of a local variable, and whether it is outside every loop. */
struct declaration {
    const struct nest_symbol *symbol;
    const struct nest_stmt *stmt;
    int depth;
};

static bool find_declaration(void *context, struct nest_stmt *stmt, int depth)
{
    struct declaration *found = context;
    if (stmt->kind == NEST_DECLARE && stmt->symbol == found->symbol) {
        found->stmt = stmt;
        found->depth = depth;
    }
    return found->stmt == NULL;
}

/* The same value in every run of the part: a size, a counter around it, a constant. */
static bool is_fixed(const struct depend *d, const struct nest_symbol *symbol)
{
    struct declaration found = {.symbol = symbol};
    if (symbol->kind == NEST_CONSTANT)
        return true;
    if (symbol->kind == NEST_COUNTER)
        return !depend_is_inner(d, symbol);
    if (symbol->kind != NEST_SCALAR || depend_is_assigned(d, symbol))
        return false;
    if (symbol->is_parameter)
        return true;
    /* Declared in a loop of the part, it has a value for each round. */
    const struct nest_stmt *at = d->first;
    for (size_t i = 0; i < d->count && at; i++, at = at->next) {
        struct nest_stmt alone = *at;
        alone.next = NULL;
        (void)nest_walk(&alone, find_declaration, &found);
        if (found.stmt)
            return false;
    }
    return true;
}

/* An integer variable of the function that the expression names and that never changes. */
static const struct nest_symbol *find_inlined(const struct depend *d, const struct nest_expr *expr)
{
    const struct nest_symbol *symbol = expr->symbol;
    if (expr->kind == NEST_NAME && symbol->kind == NEST_SCALAR && symbol->is_integer &&
        !symbol->is_parameter && !depend_is_assigned(d, symbol))
        return symbol;
    for (size_t i = 0; i < expr->arg_count; i++) {
        const struct nest_symbol *found = find_inlined(d, expr->args[i]);
        if (found)
            return found;
    }
    return NULL;
}

const struct nest_expr *depend_inline(const struct depend *d, const struct nest_expr *expr)
{
    for (int round = 0; round < 32; round++) {
        struct declaration found = {.symbol = find_inlined(d, expr)};
        struct poly poly;
        if (!found.symbol)
            return expr;
        (void)nest_walk(d->nest->body, find_declaration, &found);
        if (!found.stmt || !found.stmt->value || !poly_of(found.stmt->value, &poly))
            return expr;
        expr = nest_replace(d->edit, expr, found.symbol, found.stmt->value);
    }
    return expr;
}

/* " + 3 name", " - name", "5": isl reads what is short much faster. */
static bool print_product(int64_t factor, const char *name, bool is_first, struct buf *out)
{
    const int64_t size = factor < 0 ? -factor : factor;
    (void)buf_append_str(out, is_first ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ");
    if (!name || size != 1)
        (void)buf_printf(out, "%lld%s", (long long)size, name ? " " : "");
    return buf_append_str(out, name ? name : "");
}

/* One term: a number, number * parameter or product of parameters, number * counter. */
static bool print_term(struct depend *d, const struct poly_term *term, bool is_first, int as,
                       struct buf *out)
{
    CLEANUP(buf_free) struct buf product = {0};
    if (term->factor > INT32_MAX || term->factor < INT32_MIN)
        return false;
    if (term->degree == 0)
        return print_product(term->factor, NULL, is_first, out);
    if (term->degree == 1 && term->symbols[0]->kind == NEST_COUNTER &&
        depend_is_inner(d, term->symbols[0]))
        return print_product(
            term->factor,
            arena_printf(d->arena, "%c_%s", as == AS_SOURCE ? 's' : 't', term->symbols[0]->name),
            is_first, out);
    for (size_t i = 0; i < term->degree; i++) {
        if (!is_fixed(d, term->symbols[i]))
            return false;
        (void)buf_printf(&product, "%s%s", i ? "__" : "p_", term->symbols[i]->name);
    }
    const char *name = parameter(d, arena_strdup(d->arena, buf_text(&product)));
    return name && print_product(term->factor, name, is_first, out);
}

const char *depend_affine_poly(struct depend *d, const struct poly *poly, int as)
{
    CLEANUP(buf_free) struct buf text = {0};
    if (poly->count == 0)
        return "0";
    for (size_t i = 0; i < poly->count; i++) {
        if (!print_term(d, &poly->terms[i], i == 0, as, &text))
            return NULL;
    }
    return arena_strdup(d->arena, buf_text(&text));
}

const char *depend_affine(struct depend *d, const struct nest_expr *expr, int as)
{
    struct poly poly;
    return poly_of(depend_inline(d, expr), &poly) ? depend_affine_poly(d, &poly, as) : NULL;
}

static bool add_relation(struct depend *d, const struct nest_expr *a, const char *op,
                         const struct nest_expr *b, int as, struct buf *out)
{
    const char *left = depend_affine(d, a, as);
    const char *right = depend_affine(d, b, as);
    return left && right && buf_printf(out, " and %s %s %s", left, op, right);
}

bool depend_condition(struct depend *d, const struct nest_expr *condition, bool is_negated, int as,
                      struct buf *out)
{
    static const struct {
        const char *op, *plain, *negated;
    } relations[] = {{"<", "<", ">="},  {"<=", "<=", ">"}, {">", ">", "<="},
                     {">=", ">=", "<"}, {"==", "=", NULL}, {"!=", NULL, "="}};
    if (condition->kind != NEST_BINARY)
        return false;
    if (str_equal(condition->text, is_negated ? "||" : "&&")) {
        const bool left = depend_condition(d, condition->args[0], is_negated, as, out);
        return depend_condition(d, condition->args[1], is_negated, as, out) && left;
    }
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        const char *op = is_negated ? relations[i].negated : relations[i].plain;
        if (str_equal(condition->text, relations[i].op))
            return op && nest_is_integer(condition->args[0]) &&
                   nest_is_integer(condition->args[1]) &&
                   add_relation(d, condition->args[0], op, condition->args[1], as, out);
    }
    return false;
}

/* "a < b ? a : b": below both. */
static bool is_smaller(const struct nest_expr *expr)
{
    if (expr->kind != NEST_CONDITIONAL || expr->args[0]->kind != NEST_BINARY ||
        !str_equal(expr->args[0]->text, "<"))
        return false;
    const struct nest_expr *condition = expr->args[0];
    return nest_expr_same(condition->args[0], expr->args[1]) &&
           nest_expr_same(condition->args[1], expr->args[2]);
}

/* "a > b ? a : b": above both. */
static bool is_larger(const struct nest_expr *expr)
{
    if (expr->kind != NEST_CONDITIONAL || expr->args[0]->kind != NEST_BINARY ||
        !str_equal(expr->args[0]->text, ">"))
        return false;
    const struct nest_expr *condition = expr->args[0];
    return nest_expr_same(condition->args[0], expr->args[1]) &&
           nest_expr_same(condition->args[1], expr->args[2]);
}

static bool add_end(struct depend *d, const char *counter, const char *op,
                    const struct nest_expr *bound, int as, struct buf *out)
{
    if (op[0] == '<' ? is_smaller(bound) : is_larger(bound)) {
        const bool left = add_end(d, counter, op, bound->args[1], as, out);
        return add_end(d, counter, op, bound->args[2], as, out) && left;
    }
    const char *text = depend_affine(d, bound, as);
    return text && buf_printf(out, " and %s %s %s", counter, op, text);
}

bool depend_range(struct depend *d, const struct nest_stmt *loop, const char *counter, int as,
                  struct buf *out)
{
    const bool is_up = loop->step > 0;
    const bool is_exact = add_end(d, counter, loop->op, loop->bound, as, out);
    if (is_up ? is_larger(loop->from) : is_smaller(loop->from))
        return add_end(d, counter, is_up ? ">=" : "<=", loop->from, as, out) && is_exact &&
               (loop->step == 1 || loop->step == -1);
    const char *from = depend_affine(d, loop->from, as);
    if (!from)
        return false;
    (void)buf_printf(out, " and %s %s %s", counter, is_up ? ">=" : "<=", from);
    if (loop->step != 1 && loop->step != -1)
        (void)buf_printf(out, " and (%s - (%s)) mod %lld = 0", counter, from,
                         (long long)(is_up ? loop->step : -loop->step));
    return is_exact;
}

bool depend_bounds(struct depend *d, const struct nest_stmt *loop, int as, struct buf *out)
{
    return depend_range(d, loop, depend_counter(d, loop, as), as, out);
}

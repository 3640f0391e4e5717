/* Expressions and statements as moves build them. */
#include "moves/nest/edit.h"
#include "moves/nest/reader.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

bool nest_refuse(const struct nest_edit *edit, const char **refusal, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    *refusal = arena_strdup(edit->arena, text);
    return false;
}

/* --- expressions -------------------------------------------------------------------------------
 */

static struct nest_expr *new_expr(const struct nest_edit *edit, enum nest_expr_kind kind,
                                  const char *text)
{
    struct nest_expr *expr = arena_alloc(edit->arena, sizeof *expr);
    expr->kind = kind;
    expr->text = text;
    return expr;
}

const struct nest_expr *nest_literal(const struct nest_edit *edit, const char *text)
{
    return new_expr(edit, NEST_NUMBER, text);
}

const struct nest_expr *nest_number(const struct nest_edit *edit, int64_t value)
{
    if (value >= 0)
        return nest_literal(edit, arena_printf(edit->arena, "%lld", (long long)value));
    struct nest_expr *minus = new_expr(edit, NEST_UNARY, "-");
    minus->args[minus->arg_count++] =
        nest_literal(edit, arena_printf(edit->arena, "%llu", 0 - (unsigned long long)value));
    return minus;
}

const struct nest_expr *nest_name(const struct nest_edit *edit, const struct nest_symbol *symbol)
{
    struct nest_expr *expr = new_expr(edit, NEST_NAME, NULL);
    expr->symbol = symbol;
    return expr;
}

bool nest_is_number(const struct nest_expr *expr, int64_t *value)
{
    if (expr->kind == NEST_UNARY && str_equal(expr->text, "-") &&
        nest_is_number(expr->args[0], value)) {
        *value = -*value;
        return true;
    }
    return expr->kind == NEST_NUMBER && str_parse_int64(expr->text, value) &&
           *value > -(INT64_C(1) << 40) && *value < (INT64_C(1) << 40);
}

const struct nest_expr *nest_binary(const struct nest_edit *edit, const char *op,
                                    const struct nest_expr *a, const struct nest_expr *b)
{
    struct nest_expr *expr = new_expr(edit, NEST_BINARY, op);
    expr->args[0] = a;
    expr->args[1] = b;
    expr->arg_count = 2;
    return expr;
}

static bool is_sum(const struct nest_expr *expr)
{
    return expr->kind == NEST_BINARY && (str_equal(expr->text, "+") || str_equal(expr->text, "-"));
}

/* (x + 2) + 3 is x + 5. */
static const struct nest_expr *fold_sum(const struct nest_edit *edit, const struct nest_expr *a,
                                        int64_t number)
{
    int64_t inner = 0;
    if (is_sum(a) && nest_is_number(a->args[1], &inner)) {
        number += str_equal(a->text, "+") ? inner : -inner;
        a = a->args[0];
    }
    if (number == 0)
        return a;
    return nest_binary(edit, number > 0 ? "+" : "-", a,
                       nest_number(edit, number > 0 ? number : -number));
}

const struct nest_expr *nest_index(const struct nest_edit *edit, const char *op,
                                   const struct nest_expr *a, const struct nest_expr *b)
{
    int64_t x = 0;
    int64_t y = 0;
    const bool has_x = nest_is_number(a, &x);
    const bool has_y = nest_is_number(b, &y);
    if (str_equal(op, "*")) {
        int64_t product = 0;
        if (has_x && has_y && !__builtin_mul_overflow(x, y, &product))
            return nest_number(edit, product);
        if ((has_x && x == 1) || (has_y && y == 0))
            return b;
        if ((has_y && y == 1) || (has_x && x == 0))
            return a;
        return nest_binary(edit, op, a, b);
    }
    if (str_equal(op, "+") || str_equal(op, "-")) {
        const bool is_plus = op[0] == '+';
        if (has_x && has_y)
            return nest_number(edit, is_plus ? x + y : x - y);
        if (has_y)
            return fold_sum(edit, a, is_plus ? y : -y);
        if (has_x && is_plus)
            return fold_sum(edit, b, x);
        if (!is_plus && nest_expr_same(a, b))
            return nest_number(edit, 0);
    }
    if (str_equal(op, "/") && has_y && y == 1)
        return a;
    return nest_binary(edit, op, a, b);
}

const struct nest_expr *nest_conditional(const struct nest_edit *edit,
                                         const struct nest_expr *condition,
                                         const struct nest_expr *yes, const struct nest_expr *no)
{
    struct nest_expr *expr = new_expr(edit, NEST_CONDITIONAL, NULL);
    expr->args[0] = condition;
    expr->args[1] = yes;
    expr->args[2] = no;
    expr->arg_count = 3;
    return expr;
}

const struct nest_expr *nest_access(const struct nest_edit *edit, const struct nest_symbol *array,
                                    const struct nest_expr *const *subscripts, size_t count)
{
    struct nest_expr *expr = new_expr(edit, NEST_ACCESS, NULL);
    expr->symbol = array;
    if (count > NEST_MAX_DIMENSIONS)
        BUG("nest: %zu subscripts", count);
    for (size_t i = 0; i < count; i++)
        expr->args[expr->arg_count++] = subscripts[i];
    return expr;
}

const struct nest_expr *nest_smaller(const struct nest_edit *edit, const struct nest_expr *a,
                                     const struct nest_expr *b)
{
    int64_t x = 0;
    int64_t y = 0;
    if (nest_is_number(a, &x) && nest_is_number(b, &y))
        return x < y ? a : b;
    if (nest_expr_same(a, b))
        return a;
    return nest_conditional(edit, nest_binary(edit, "<", a, b), a, b);
}

const struct nest_expr *nest_larger(const struct nest_edit *edit, const struct nest_expr *a,
                                    const struct nest_expr *b)
{
    int64_t x = 0;
    int64_t y = 0;
    if (nest_is_number(a, &x) && nest_is_number(b, &y))
        return x > y ? a : b;
    if (nest_expr_same(a, b))
        return a;
    return nest_conditional(edit, nest_binary(edit, ">", a, b), a, b);
}

bool nest_is_integer(const struct nest_expr *expr)
{
    int64_t number = 0;
    switch (expr->kind) {
    case NEST_NUMBER:
        return str_parse_int64(expr->text, &number);
    case NEST_NAME:
    case NEST_ACCESS:
        return expr->symbol->is_integer;
    case NEST_CAST:
        return type_is_integer(expr->text);
    case NEST_CONDITIONAL:
        return nest_is_integer(expr->args[1]) && nest_is_integer(expr->args[2]);
    case NEST_UNARY:
        return str_equal(expr->text, "!") || nest_is_integer(expr->args[0]);
    case NEST_BINARY:
        return nest_is_integer(expr->args[0]) && nest_is_integer(expr->args[1]);
    case NEST_CALL:
        return false;
    }
    return false;
}

const struct nest_expr *nest_replace(const struct nest_edit *edit, const struct nest_expr *expr,
                                     const struct nest_symbol *symbol, const struct nest_expr *with)
{
    if (!expr || !nest_expr_uses(expr, symbol))
        return expr;
    if (expr->kind == NEST_NAME)
        return with;
    struct nest_expr *copy = arena_memdup(edit->arena, expr, sizeof *expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = nest_replace(edit, expr->args[i], symbol, with);
    if (expr->kind == NEST_ACCESS && expr->symbol == symbol) {
        if (with->kind != NEST_NAME)
            BUG("nest: array '%s' replaced by an expression", symbol->name);
        copy->symbol = with->symbol;
    }
    /* Sums of counters fold as they are put together; 0 * x of reals does not. */
    if (expr->kind == NEST_BINARY && nest_is_integer(copy->args[0]) &&
        nest_is_integer(copy->args[1]))
        return nest_index(edit, expr->text, copy->args[0], copy->args[1]);
    return copy;
}

bool nest_expr_uses(const struct nest_expr *expr, const struct nest_symbol *symbol)
{
    if (!expr)
        return false;
    if (expr->symbol == symbol && expr->symbol)
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (nest_expr_uses(expr->args[i], symbol))
            return true;
    }
    return false;
}

/* --- statements --------------------------------------------------------------------------------
 */

struct nest_stmt *nest_new_stmt(const struct nest_edit *edit, enum nest_stmt_kind kind, int line)
{
    struct nest_stmt *stmt = arena_alloc(edit->arena, sizeof *stmt);
    stmt->kind = kind;
    stmt->line = line;
    return stmt;
}

struct nest_stmt *nest_assign(const struct nest_edit *edit, const struct nest_expr *target,
                              const char *op, const struct nest_expr *value, int line)
{
    struct nest_stmt *stmt = nest_new_stmt(edit, NEST_ASSIGN, line);
    stmt->target = target;
    stmt->op = op;
    stmt->value = value;
    return stmt;
}

struct nest_stmt *nest_new_loop(struct nest_edit *edit, const char *name, const char *type,
                                const struct nest_expr *from, const struct nest_expr *bound,
                                int64_t step, struct nest_stmt *body, int line)
{
    struct nest_stmt *loop = nest_new_stmt(edit, NEST_FOR, line);
    loop->symbol = nest_new_symbol(edit, NEST_COUNTER, name, type);
    loop->name = loop->symbol->name;
    loop->from = from;
    loop->bound = bound;
    loop->op = "<";
    loop->step = step;
    loop->body = body;
    return loop;
}

struct nest_stmt *nest_new_variable(struct nest_edit *edit, const char *name, const char *type,
                                    const struct nest_expr *value, int line)
{
    struct nest_stmt *stmt = nest_new_stmt(edit, NEST_DECLARE, line);
    stmt->symbol = nest_new_symbol(edit, NEST_SCALAR, name, type);
    stmt->value = value;
    return stmt;
}

/* Pointers keep what they point into in their symbol too. */
static void replace_in_symbol(const struct nest_edit *edit, struct nest_symbol *declared,
                              const struct nest_symbol *symbol, const struct nest_expr *with)
{
    if (declared->base == symbol && with->kind == NEST_NAME)
        declared->base = with->symbol;
    declared->offset = nest_replace(edit, declared->offset, symbol, with);
    for (size_t d = 0; d < declared->rank; d++)
        declared->dimensions[d] = nest_replace(edit, declared->dimensions[d], symbol, with);
}

void nest_replace_in(const struct nest_edit *edit, struct nest_stmt *first,
                     const struct nest_symbol *symbol, const struct nest_expr *with)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        s->from = nest_replace(edit, s->from, symbol, with);
        s->bound = nest_replace(edit, s->bound, symbol, with);
        s->target = nest_replace(edit, s->target, symbol, with);
        s->value = nest_replace(edit, s->value, symbol, with);
        if (s->kind == NEST_DECLARE)
            replace_in_symbol(edit, s->symbol, symbol, with);
        nest_replace_in(edit, s->body, symbol, with);
        nest_replace_in(edit, s->otherwise, symbol, with);
    }
}

bool nest_list_uses(const struct nest_stmt *first, const struct nest_symbol *symbol)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if (nest_expr_uses(s->from, symbol) || nest_expr_uses(s->bound, symbol) ||
            nest_expr_uses(s->target, symbol) || nest_expr_uses(s->value, symbol) ||
            nest_list_uses(s->body, symbol) || nest_list_uses(s->otherwise, symbol))
            return true;
        for (size_t d = 0; s->kind == NEST_DECLARE && d < s->symbol->rank; d++) {
            if (nest_expr_uses(s->symbol->dimensions[d], symbol))
                return true;
        }
    }
    return false;
}

/* The variable or array; of "vreal_at(x, i) = ...", x. */
static const struct nest_symbol *assigned_symbol(const struct nest_stmt *s)
{
    return s->target->kind == NEST_CALL ? s->target->args[0]->symbol : s->target->symbol;
}

bool nest_list_assigns(const struct nest_stmt *first, const struct nest_symbol *symbol)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if ((s->kind == NEST_ASSIGN && assigned_symbol(s) == symbol) ||
            nest_list_assigns(s->body, symbol) || nest_list_assigns(s->otherwise, symbol))
            return true;
    }
    return false;
}

const struct nest_symbol *nest_base_of(const struct nest_symbol *symbol)
{
    while (symbol->kind == NEST_POINTER && symbol->base)
        symbol = symbol->base;
    return symbol;
}

bool nest_expr_reaches(const struct nest_expr *expr, const struct nest_symbol *symbol)
{
    if (expr->symbol && nest_base_of(expr->symbol) == nest_base_of(symbol))
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (nest_expr_reaches(expr->args[i], symbol))
            return true;
    }
    return false;
}

static bool is_other_name(const struct nest_symbol *symbol, const struct nest_symbol *array)
{
    return symbol && symbol->kind == NEST_POINTER && nest_base_of(symbol) == array;
}

static bool names_otherwise(void *context, const struct nest_expr *expr, bool is_target)
{
    (void)is_target;
    return !is_other_name(expr->symbol, context);
}

static bool states_otherwise(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return !(stmt->kind == NEST_DECLARE && is_other_name(stmt->symbol, context)) &&
           nest_walk_exprs(stmt, names_otherwise, context);
}

bool nest_list_points_into(struct nest_stmt *first, const struct nest_symbol *array)
{
    return !nest_walk(first, states_otherwise, (void *)(uintptr_t)array);
}

bool nest_list_declares(const struct nest_stmt *first, const struct nest_symbol *symbol)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if ((s->kind == NEST_DECLARE && s->symbol == symbol) ||
            nest_list_declares(s->body, symbol) || nest_list_declares(s->otherwise, symbol))
            return true;
    }
    return false;
}

bool nest_list_declares_any(const struct nest_stmt *first, const struct nest_expr *expr)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if ((s->kind == NEST_DECLARE && nest_expr_uses(expr, s->symbol)) ||
            nest_list_declares_any(s->body, expr) || nest_list_declares_any(s->otherwise, expr))
            return true;
    }
    return false;
}

struct nest_stmt *nest_append(struct nest_stmt *list, struct nest_stmt *more)
{
    if (!list)
        return more;
    struct nest_stmt *last = list;
    while (last->next)
        last = last->next;
    last->next = more;
    return list;
}

static struct nest_stmt **link_in(struct nest_stmt **first, const struct nest_stmt *stmt)
{
    for (struct nest_stmt **at = first; *at; at = &(*at)->next) {
        if (*at == stmt)
            return at;
        struct nest_stmt **found = link_in(&(*at)->body, stmt);
        if (!found)
            found = link_in(&(*at)->otherwise, stmt);
        if (found)
            return found;
    }
    return NULL;
}

struct nest_stmt **nest_link(struct nest *nest, const struct nest_stmt *stmt)
{
    struct nest_stmt **link = link_in(&nest->body, stmt);
    if (!link)
        BUG("nest: a statement that hangs nowhere");
    return link;
}

/* The statements around `stmt`, outermost first. */
static bool path_to(struct nest_stmt *first, const struct nest_stmt *stmt, struct nest_stmt **path,
                    size_t *count)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s == stmt)
            return true;
        if (!s->body && !s->otherwise)
            continue;
        const size_t at = *count;
        if (at == (size_t)NEST_MAX_DEPTH * 4)
            BUG("nest: deeper than it can be");
        path[(*count)++] = s;
        if (path_to(s->body, stmt, path, count) || path_to(s->otherwise, stmt, path, count))
            return true;
        *count = at;
    }
    return false;
}

struct nest_stmt *nest_parent(const struct nest *nest, const struct nest_stmt *stmt)
{
    struct nest_stmt *path[NEST_MAX_DEPTH * 4];
    size_t count = 0;
    (void)path_to(nest->body, stmt, path, &count);
    while (count > 0 && path[count - 1]->kind == NEST_BLOCK)
        count--;
    return count > 0 ? path[count - 1] : NULL;
}

size_t nest_loops_around(const struct nest *nest, const struct nest_stmt *stmt,
                         struct nest_stmt *out[NEST_MAX_DEPTH])
{
    struct nest_stmt *path[NEST_MAX_DEPTH * 4];
    size_t count = 0;
    size_t loops = 0;
    (void)path_to(nest->body, stmt, path, &count);
    for (size_t i = 0; i < count && loops < NEST_MAX_DEPTH; i++) {
        if (path[i]->kind == NEST_FOR)
            out[loops++] = path[i];
    }
    return loops;
}

bool nest_list_has(const struct nest_stmt *first, enum nest_stmt_kind kind)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind == kind || nest_list_has(s->body, kind) || nest_list_has(s->otherwise, kind))
            return true;
    }
    return false;
}

bool nest_is_innermost(const struct nest_stmt *loop)
{
    return !nest_list_has(loop->body, NEST_FOR);
}

struct nest_stmt *nest_only_loop(const struct nest_stmt *loop)
{
    struct nest_stmt *body = loop->body;
    return body && body->kind == NEST_FOR && !body->next ? body : NULL;
}

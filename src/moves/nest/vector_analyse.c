/* What depends on which of the loops that are put together. */
#include "moves/nest/affine.h"
#include "moves/nest/vector_internal.h"

#include "base/str.h"

#include <string.h>

bool vector_stride(const struct nest_edit *edit, const struct nest_stmt *loop,
                   const struct nest_expr *index, int64_t *out)
{
    struct poly here;
    struct poly next;
    const struct nest_expr *one_on =
        nest_index(edit, "+", nest_name(edit, loop->symbol), nest_number(edit, 1));
    return poly_of(index, &here) &&
           poly_of(nest_replace(edit, index, loop->symbol, one_on), &next) &&
           poly_add(&next, &here, -1) && poly_is_constant(&next, out);
}

bool vector_is_lane(const struct nest_edit *edit, const char *type)
{
    const char *last = strrchr(type, ' ');
    last = last ? last + 1 : type;
    return !strstr(type, "long") && (str_equal(last, "real") || str_equal(last, "real_acc") ||
                                     str_equal(last, dtype_c_name(edit->nest->task->dtype)));
}

struct fit {
    const struct nest_edit *edit;
    const struct nest_stmt *loop;
    const char **refusal;
    bool may_scatter; /* what is assigned may lie apart */
};

static bool check_fit(void *context, const struct nest_expr *expr, bool is_target)
{
    const struct fit *fit = context;
    int64_t stride = 0;
    if (expr->kind != NEST_ACCESS || expr->symbol->is_integer || (is_target && fit->may_scatter))
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!nest_expr_uses(expr->args[i], fit->loop->symbol))
            continue;
        if (i + 1 < expr->arg_count ||
            !vector_stride(fit->edit, fit->loop, expr->args[i], &stride) || stride > 1 ||
            stride < 0)
            return nest_refuse(fit->edit, fit->refusal,
                               "neighbours in '%s' are not neighbours in '%s'", fit->loop->name,
                               expr->symbol->name);
    }
    return true;
}

/* A result of loops inside is stored so seldom that its lanes may go to places that lie apart. */
static bool check_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    struct fit *fit = context;
    fit->may_scatter = depth == 0 && stmt->kind == NEST_ASSIGN && str_equal(stmt->op, "=") &&
                       nest_list_has(fit->loop->body, NEST_FOR);
    return nest_walk_exprs(stmt, check_fit, context);
}

bool vector_fits(const struct nest_edit *edit, const struct nest_stmt *loop, const char **refusal)
{
    struct fit fit = {.edit = edit, .loop = loop, .refusal = refusal};
    if (loop->step != 1)
        return nest_refuse(edit, refusal, "loop '%s' does not count by 1", loop->name);
    return nest_walk(loop->body, check_stmt, &fit);
}

/* --- variables ---------------------------------------------------------------------------------
 */

struct lane_variable *lanes_find(struct lanes *l, const struct nest_symbol *symbol)
{
    for (size_t i = 0; i < l->variable_count; i++) {
        if (l->variables[i].symbol == symbol)
            return &l->variables[i];
    }
    return NULL;
}

unsigned lanes_mask(struct lanes *l, const struct nest_expr *expr)
{
    unsigned mask = 0;
    if (!expr)
        return 0;
    if (expr->kind == NEST_NAME) {
        for (size_t t = 0; t < l->tiles->count; t++) {
            if (l->tiles->items[t].loop->symbol == expr->symbol)
                mask |= 1u << t;
        }
        const struct lane_variable *variable = lanes_find(l, expr->symbol);
        return variable ? mask | variable->mask : mask;
    }
    for (size_t i = 0; i < expr->arg_count; i++)
        mask |= lanes_mask(l, expr->args[i]);
    return mask;
}

static bool add_variable(struct lanes *l, const struct nest_symbol *symbol)
{
    if (lanes_find(l, symbol))
        return true;
    if (l->variable_count == VECTOR_MAX_VARIABLES)
        return nest_refuse(l->edit, l->refusal, "more than %d variables in the body",
                           VECTOR_MAX_VARIABLES);
    l->variables[l->variable_count++].symbol = symbol;
    return true;
}

/* What a body declares that vector code can hold. */
static bool find_declared(struct lanes *l, const struct nest_stmt *first)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind == NEST_OPAQUE)
            return nest_refuse(l->edit, l->refusal, "the body holds what is not understood");
        if (s->kind == NEST_ASSIGN && s->target->kind == NEST_CALL)
            return nest_refuse(l->edit, l->refusal, "the body is vector code already");
        if (s->kind == NEST_DECLARE) {
            if (s->symbol->kind != NEST_SCALAR)
                return nest_refuse(l->edit, l->refusal, "the body declares '%s', no variable",
                                   s->symbol->name);
            if (strstr(s->symbol->type, "vreal"))
                return nest_refuse(l->edit, l->refusal, "the body is vector code already");
            if (!add_variable(l, s->symbol))
                return false;
        }
        if (!find_declared(l, s->body) || !find_declared(l, s->otherwise))
            return false;
    }
    return true;
}

/* Numbers, counters, sizes and their sums and products: never less than 0. */
static bool is_natural(const struct nest_expr *expr)
{
    if (expr->kind == NEST_NAME)
        return expr->symbol->kind == NEST_COUNTER || expr->symbol->is_parameter ||
               nest_type_is_unsigned(expr->symbol->type);
    if (expr->kind == NEST_BINARY && (str_equal(expr->text, "+") || str_equal(expr->text, "*")))
        return is_natural(expr->args[0]) && is_natural(expr->args[1]);
    return expr->kind == NEST_NUMBER;
}

/* What it names is the same wherever the variable is read. */
static bool is_lasting(const struct nest_expr *expr)
{
    if ((expr->kind == NEST_NAME || expr->kind == NEST_ACCESS) &&
        nest_base_of(expr->symbol)->is_written)
        return false;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!is_lasting(expr->args[i]))
            return false;
    }
    return true;
}

/* The variable is its value wherever it stands: it takes nothing off it. (Signed 32 bits count as
 * enough: no row is longer.) */
static bool is_its_value(const struct nest_stmt *declared)
{
    const struct nest_symbol *symbol = declared->symbol;
    const char *type = symbol->type;
    const bool is_narrow = strstr(type, "8_t") || strstr(type, "16_t") || strstr(type, "char") ||
                           strstr(type, "short") || strstr(type, "ool");
    return symbol->kind == NEST_SCALAR && symbol->is_integer && !symbol->is_written &&
           declared->value && nest_is_integer(declared->value) && is_lasting(declared->value) &&
           !is_narrow && (!nest_type_is_unsigned(type) || is_natural(declared->value));
}

/* Whole numbers that a body names once are their values. */
static void inline_integers(struct lanes *l, struct nest_stmt **first)
{
    for (struct nest_stmt **at = first; *at;) {
        struct nest_stmt *s = *at;
        inline_integers(l, &s->body);
        inline_integers(l, &s->otherwise);
        if (s->kind == NEST_DECLARE && is_its_value(s)) {
            nest_replace_in(l->edit, s->next, s->symbol, s->value);
            *at = s->next;
            continue;
        }
        at = &s->next;
    }
}

/* One round of finding what depends on what; true where something has changed. */
static bool spread(struct lanes *l, const struct nest_stmt *first, unsigned around)
{
    bool has_changed = false;
    for (const struct nest_stmt *s = first; s; s = s->next) {
        const bool is_assign = s->kind == NEST_ASSIGN && s->target->kind == NEST_NAME;
        const struct nest_symbol *symbol = s->kind == NEST_DECLARE ? s->symbol
                                           : is_assign             ? s->target->symbol
                                                                   : NULL;
        struct lane_variable *variable = symbol ? lanes_find(l, symbol) : NULL;
        if (variable) {
            const unsigned mask =
                variable->mask | around | (s->value ? lanes_mask(l, s->value) : 0);
            has_changed = has_changed || mask != variable->mask;
            variable->mask = mask;
        }
        const unsigned inner = around | (s->kind == NEST_IF ? lanes_mask(l, s->value) : 0);
        has_changed = spread(l, s->body, inner) || has_changed;
        has_changed = spread(l, s->otherwise, inner) || has_changed;
    }
    return has_changed;
}

/* --- conditions on lanes -----------------------------------------------------------------------
 */

struct speculation {
    const struct nest_expr *condition;
    bool is_safe;
};

static bool holds(const struct nest_expr *in, const struct nest_expr *access)
{
    if (nest_expr_same(in, access))
        return true;
    for (size_t i = 0; i < in->arg_count; i++) {
        if (holds(in->args[i], access))
            return true;
    }
    return false;
}

/* What is loaded under the condition is loaded by the condition too, so that it is there. */
static bool check_load(void *context, const struct nest_expr *expr, bool is_target)
{
    struct speculation *s = context;
    (void)is_target;
    if (expr->kind == NEST_ACCESS && !holds(s->condition, expr))
        s->is_safe = false;
    return s->is_safe;
}

static bool to_selection(struct lanes *l, struct nest_stmt *branch)
{
    struct nest_stmt *s = branch->body;
    struct speculation check = {.condition = branch->value, .is_safe = true};
    if (!s || s->next || branch->otherwise || s->kind != NEST_ASSIGN ||
        s->target->kind != NEST_NAME)
        return nest_refuse(l->edit, l->refusal, "a condition that differs between lanes");
    (void)nest_walk_exprs(s, check_load, &check);
    if (!check.is_safe)
        return nest_refuse(l->edit, l->refusal,
                           "a load under a condition that differs between lanes");
    const struct nest_expr *value = s->value;
    if (!str_equal(s->op, "="))
        value = nest_binary(l->edit, arena_strndup(l->edit->arena, s->op, strlen(s->op) - 1),
                            s->target, value);
    branch->kind = NEST_ASSIGN;
    branch->target = s->target;
    branch->op = "=";
    branch->value = nest_conditional(l->edit, branch->value, value, s->target);
    branch->body = NULL;
    return true;
}

static bool select_on_lanes(struct lanes *l, struct nest_stmt *first)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (!select_on_lanes(l, s->body) || !select_on_lanes(l, s->otherwise))
            return false;
        if (s->kind == NEST_IF && (lanes_mask(l, s->value) & l->vector_bit) && !to_selection(l, s))
            return false;
    }
    return true;
}

/* --- sums and extrema over the loop ------------------------------------------------------------
 */

struct gathering {
    struct lanes *l;
    bool is_ok;
};

/* "s += e", "s = s + e", "s = e > s ? e : s". */
static enum gather gather_of(const struct nest_stmt *s)
{
    const struct nest_expr *value = s->value;
    const struct nest_symbol *symbol = s->target->symbol;
    if (str_equal(s->op, "+=") || str_equal(s->op, "-="))
        return nest_expr_uses(value, symbol) ? GATHER_NONE : GATHER_SUM;
    if (!str_equal(s->op, "="))
        return GATHER_NONE;
    if (value->kind == NEST_BINARY && str_equal(value->text, "+") &&
        nest_expr_same(value->args[0], s->target) && !nest_expr_uses(value->args[1], symbol))
        return GATHER_SUM;
    if (value->kind != NEST_CONDITIONAL || value->args[0]->kind != NEST_BINARY ||
        value->args[0]->text[1] != '\0')
        return GATHER_NONE;
    const struct nest_expr *test = value->args[0];
    const bool straight = nest_expr_same(test->args[0], value->args[1]) &&
                          nest_expr_same(test->args[1], value->args[2]);
    if (!straight || !nest_expr_same(value->args[2], s->target) ||
        nest_expr_uses(value->args[1], symbol))
        return GATHER_NONE;
    return test->text[0] == '>'   ? GATHER_LARGEST
           : test->text[0] == '<' ? GATHER_SMALLEST
                                  : GATHER_NONE;
}

static size_t count_uses(const struct nest_expr *expr, const struct nest_symbol *symbol)
{
    size_t count = expr && expr->symbol == symbol;
    for (size_t i = 0; expr && i < expr->arg_count; i++)
        count += count_uses(expr->args[i], symbol);
    return count;
}

static size_t uses_in(const struct nest_stmt *first, const struct nest_symbol *symbol)
{
    size_t count = 0;
    for (const struct nest_stmt *s = first; s; s = s->next) {
        count += count_uses(s->value, symbol) + count_uses(s->target, symbol) +
                 count_uses(s->from, symbol) + count_uses(s->bound, symbol) +
                 uses_in(s->body, symbol) + uses_in(s->otherwise, symbol);
    }
    return count;
}

static bool find_gathered(struct lanes *l, const struct nest_stmt *body,
                          const struct nest_stmt *first)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if (!find_gathered(l, body, s->body) || !find_gathered(l, body, s->otherwise))
            return false;
        if (s->kind != NEST_ASSIGN || s->target->kind != NEST_NAME ||
            lanes_find(l, s->target->symbol))
            continue;
        const struct nest_symbol *symbol = s->target->symbol;
        const enum gather gather = gather_of(s);
        const size_t own = count_uses(s->value, symbol) + 1;
        if (gather == GATHER_NONE || symbol->is_integer || uses_in(body, symbol) != own)
            return nest_refuse(l->edit, l->refusal,
                               "'%s' goes from round to round, and is no plain sum or extremum",
                               symbol->name);
        if (l->tiles->count != 1)
            return nest_refuse(l->edit, l->refusal, "'%s' is summed over the loops themselves",
                               symbol->name);
        if (gather == GATHER_SUM && !nest_allow(l->edit, NUMERICS_REASSOCIATE, l->refusal))
            return false;
        if (!add_variable(l, symbol))
            return false;
        l->variables[l->variable_count - 1].gather = gather;
        l->variables[l->variable_count - 1].mask = 1;
    }
    return true;
}

bool lanes_analyse(struct lanes *l, struct nest_stmt *body)
{
    struct nest_stmt *innermost = l->tiles->items[l->tiles->count - 1].loop;
    inline_integers(l, &innermost->body);
    body = innermost->body;
    if (!find_declared(l, body))
        return false;
    while (spread(l, body, 0)) {
    }
    if (!select_on_lanes(l, body) || !find_gathered(l, body, body))
        return false;
    while (spread(l, body, 0)) {
    }
    for (size_t i = 0; i < l->variable_count; i++) {
        const struct nest_symbol *symbol = l->variables[i].symbol;
        if ((l->variables[i].mask & l->vector_bit) && !vector_is_lane(l->edit, symbol->type))
            return nest_refuse(l->edit, l->refusal, "'%s' differs in lanes and is of type '%s'",
                               symbol->name, symbol->type);
    }
    return true;
}

/* reciprocal(j): what a loop divides by in every round is inverted once, in front of the loop. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/str.h"

struct inverting {
    struct nest_edit *edit;
    struct nest_stmt *loop;
    struct nest_stmt *declared[8];
    const struct nest_expr *divisors[8];
    size_t count;
};

/* Nothing that the divisor names changes in the loop; elements may change by other names: those of
 * a written array, and of every pointer into it, count as changing. */
static bool is_fixed(const struct inverting *v, const struct nest_expr *expr)
{
    if (expr->kind == NEST_ACCESS && nest_base_of(expr->symbol)->is_written)
        return false;
    if (expr->kind == NEST_NAME &&
        (expr->symbol->kind == NEST_ARRAY || expr->symbol->kind == NEST_POINTER ||
         expr->symbol == v->loop->symbol || nest_list_declares(v->loop->body, expr->symbol) ||
         nest_list_assigns(v->loop->body, expr->symbol)))
        return false;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!is_fixed(v, expr->args[i]))
            return false;
    }
    return true;
}

/* The variable that holds 1 / divisor; NULL where there is none. */
static const struct nest_expr *inverse_of(struct inverting *v, const struct nest_expr *divisor)
{
    struct nest_edit *edit = v->edit;
    if (divisor->kind == NEST_NUMBER || nest_is_integer(divisor) || !is_fixed(v, divisor))
        return NULL;
    for (size_t i = 0; i < v->count; i++) {
        if (nest_expr_same(v->divisors[i], divisor))
            return nest_name(edit, v->declared[i]->symbol);
    }
    if (v->count == sizeof v->divisors / sizeof *v->divisors)
        return NULL;
    struct nest_expr *one = arena_alloc(edit->arena, sizeof *one);
    *one = (struct nest_expr){
        .kind = NEST_CAST, .text = "real", .args = {nest_number(edit, 1)}, .arg_count = 1};
    v->divisors[v->count] = divisor;
    v->declared[v->count] = nest_new_variable(edit, "inverse", "const real",
                                              nest_binary(edit, "/", one, divisor), v->loop->line);
    return nest_name(edit, v->declared[v->count++]->symbol);
}

static const struct nest_expr *invert(struct inverting *v, const struct nest_expr *expr)
{
    if (!expr)
        return NULL;
    struct nest_expr *copy = arena_memdup(v->edit->arena, expr, sizeof *expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = invert(v, expr->args[i]);
    if (expr->kind != NEST_BINARY || !str_equal(expr->text, "/") || nest_is_integer(expr->args[0]))
        return copy;
    const struct nest_expr *inverse = inverse_of(v, expr->args[1]);
    return inverse ? nest_binary(v->edit, "*", copy->args[0], inverse) : copy;
}

static void invert_in(struct inverting *v, struct nest_stmt *first)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind == NEST_ASSIGN && str_equal(s->op, "/=") && !s->target->symbol)
            continue;
        const struct nest_expr *inverse =
            s->kind == NEST_ASSIGN && str_equal(s->op, "/=") ? inverse_of(v, s->value) : NULL;
        s->value = inverse ? inverse : invert(v, s->value);
        if (inverse)
            s->op = "*=";
        invert_in(v, s->body);
        invert_in(v, s->otherwise);
    }
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct inverting v = {.edit = edit};
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    v.loop = nest_step_loop(edit, step, 0, refusal);
    if (!v.loop || !nest_allow(edit, NUMERICS_APPROXIMATE, refusal))
        return false;
    if (nest_list_has(v.loop->body, NEST_OPAQUE))
        return nest_refuse(edit, refusal, "the loop holds what is not understood");
    if (!nest_is_innermost(v.loop))
        return nest_refuse(edit, refusal, "there is a loop in loop '%s'", v.loop->name);
    invert_in(&v, v.loop->body);
    if (v.count == 0)
        return nest_refuse(edit, refusal, "loop '%s' divides by nothing that stays the same",
                           v.loop->name);
    struct nest_stmt **link = nest_link(edit->nest, v.loop);
    for (size_t i = 0; i < v.count; i++) {
        v.declared[i]->next = v.loop;
        *link = v.declared[i];
        link = &v.declared[i]->next;
    }
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    (void)target;
    return nest_suggest_innermost(nest, "reciprocal(%s)", arena, out, capacity);
}

const struct nest_move nest_move_reciprocal = {
    .name = "reciprocal",
    .group = "arithmetic",
    .intent = "multiplies by a reciprocal made once where a loop divides by the same each time",
    .parameters = "reciprocal(LOOP)",
    .precondition = "an innermost loop that divides reals by what does not change in it",
    .effect = "a division takes five to ten times as long as a product",
    .breaks = "results differ by a unit in the last digit; a divisor near 0 overflows earlier",
    .numerics = NUMERICS_APPROXIMATE,
    .apply = apply,
    .suggest = suggest,
};

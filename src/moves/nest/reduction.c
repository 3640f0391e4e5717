/* Statements that accumulate. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"

#include "base/str.h"

/* "<", ">", "<=", ">=", and no shift. */
static bool is_relation(const char *op)
{
    return (op[0] == '<' || op[0] == '>') && (op[1] == '\0' || str_equal(op + 1, "="));
}

static bool is_place(const struct nest_expr *a, const struct nest_expr *target)
{
    return nest_expr_same(a, target);
}

/* "a > b ? a : b" with the target as one of both, and the other free of it. */
static bool is_extremum(const struct nest_expr *value, const struct nest_expr *target)
{
    if (value->kind == NEST_CALL && value->arg_count == 2 &&
        (str_starts_with(value->text, "fmax") || str_starts_with(value->text, "fmin"))) {
        const int own = is_place(value->args[0], target) ? 0 : 1;
        return is_place(value->args[own], target) &&
               !nest_expr_reaches(value->args[1 - own], target->symbol);
    }
    if (value->kind != NEST_CONDITIONAL || value->args[0]->kind != NEST_BINARY ||
        !is_relation(value->args[0]->text))
        return false;
    const struct nest_expr *yes = value->args[1];
    const struct nest_expr *no = value->args[2];
    const struct nest_expr *left = value->args[0]->args[0];
    const struct nest_expr *right = value->args[0]->args[1];
    const bool is_ordered = (nest_expr_same(left, yes) && nest_expr_same(right, no)) ||
                            (nest_expr_same(left, no) && nest_expr_same(right, yes));
    const struct nest_expr *other = is_place(yes, target) ? no : yes;
    return is_ordered && (is_place(yes, target) || is_place(no, target)) &&
           !nest_expr_reaches(other, target->symbol);
}

static enum reduction_kind reduction_of_assignment(const struct nest_stmt *stmt)
{
    const struct nest_expr *target = stmt->target;
    const struct nest_expr *value = stmt->value;
    for (size_t i = 0; i < target->arg_count; i++) {
        if (nest_expr_reaches(target->args[i], target->symbol))
            return REDUCTION_NONE;
    }
    if (!str_equal(stmt->op, "=")) {
        if (nest_expr_reaches(value, target->symbol))
            return REDUCTION_NONE;
        return str_equal(stmt->op, "+=") || str_equal(stmt->op, "-=") ? REDUCTION_SUM
               : str_equal(stmt->op, "*=")                            ? REDUCTION_PRODUCT
                                                                      : REDUCTION_NONE;
    }
    if (is_extremum(value, target))
        return REDUCTION_EXTREMUM;
    if (value->kind != NEST_BINARY)
        return REDUCTION_NONE;
    const bool is_sum = str_equal(value->text, "+");
    const bool is_product = str_equal(value->text, "*");
    const int own = is_place(value->args[0], target) ? 0 : 1;
    if (!is_place(value->args[own], target) ||
        nest_expr_reaches(value->args[1 - own], target->symbol))
        return REDUCTION_NONE;
    if (is_sum || (str_equal(value->text, "-") && own == 0))
        return REDUCTION_SUM;
    return is_product ? REDUCTION_PRODUCT : REDUCTION_NONE;
}

/* `if (e > s) s = e;` */
static enum reduction_kind reduction_of_if(const struct nest_stmt *stmt)
{
    const struct nest_stmt *body = stmt->body;
    const struct nest_expr *test = stmt->value;
    if (stmt->otherwise || !body || body->next || body->kind != NEST_ASSIGN ||
        !str_equal(body->op, "=") || test->kind != NEST_BINARY || !is_relation(test->text))
        return REDUCTION_NONE;
    const int own = nest_expr_same(test->args[0], body->target) ? 0 : 1;
    return nest_expr_same(test->args[own], body->target) &&
                   nest_expr_same(test->args[1 - own], body->value) &&
                   !nest_expr_reaches(body->value, body->target->symbol)
               ? REDUCTION_EXTREMUM
               : REDUCTION_NONE;
}

enum reduction_kind nest_reduction_of(const struct nest_stmt *stmt)
{
    const struct nest_stmt *assignment = stmt->kind == NEST_IF ? stmt->body : stmt;
    if (assignment && assignment->kind == NEST_ASSIGN && assignment->target->kind == NEST_CALL)
        return REDUCTION_NONE; /* into a vector: its elements are in order as they stand */
    return stmt->kind == NEST_ASSIGN ? reduction_of_assignment(stmt)
           : stmt->kind == NEST_IF   ? reduction_of_if(stmt)
                                     : REDUCTION_NONE;
}

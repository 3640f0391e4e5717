#include "task/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static const char overflow[] = "a value that does not fit in 64 bits";

static int64_t floor_div(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* Quotient, remainder and ceildiv; they round as floor, so that a == b * (a / b) + a % b. */
static bool divide(enum expr_op op, int64_t a, int64_t b, int64_t *out, const char **fault)
{
    if (b == 0) {
        *fault = "a division by zero";
        return false;
    }
    if (a == INT64_MIN && b == -1) {
        *fault = overflow;
        return false;
    }
    const int64_t quotient = floor_div(a, b);
    if (op == EXPR_DIVIDE)
        *out = quotient;
    else if (op == EXPR_REMAINDER)
        *out = a - quotient * b;
    else
        *out = quotient * b == a ? quotient : quotient + 1;
    return true;
}

static bool combine(enum expr_op op, int64_t a, int64_t b, int64_t *out, const char **fault)
{
    bool wraps = false;
    switch (op) {
    case EXPR_ADD:
        wraps = __builtin_add_overflow(a, b, out);
        break;
    case EXPR_SUBTRACT:
        wraps = __builtin_sub_overflow(a, b, out);
        break;
    case EXPR_MULTIPLY:
        wraps = __builtin_mul_overflow(a, b, out);
        break;
    case EXPR_DIVIDE:
    case EXPR_REMAINDER:
    case EXPR_CEILDIV:
        return divide(op, a, b, out, fault);
    case EXPR_MIN:
        *out = a < b ? a : b;
        break;
    case EXPR_MAX:
        *out = a > b ? a : b;
        break;
    case EXPR_NUMBER:
    case EXPR_AXIS:
    case EXPR_REAL:
    case EXPR_OP_COUNT:
        BUG("expr: operator %d is no operation on integers", (int)op);
    }
    if (wraps)
        *fault = overflow;
    return !wraps;
}

bool expr_eval_int(const struct task_expr *expr, const int64_t *axes, int64_t *out,
                   const char **fault)
{
    int64_t left = 0;
    int64_t right = 0;
    int64_t value = 0;
    if (expr->op == EXPR_NUMBER) {
        *out = expr->number;
        return true;
    }
    if (expr->op == EXPR_AXIS) {
        *out = axes[expr->axis];
        return true;
    }
    if (expr->op == EXPR_REAL)
        BUG("expr: a real attribute in a shape");
    if (!expr_eval_int(expr->left, axes, &left, fault) ||
        !expr_eval_int(expr->right, axes, &right, fault) ||
        !combine(expr->op, left, right, &value, fault))
        return false;
    *out = value;
    return true;
}

double expr_eval_real(const struct task_expr *expr, const int64_t *axes)
{
    if (expr->op == EXPR_NUMBER)
        return (double)expr->number;
    if (expr->op == EXPR_AXIS)
        return (double)axes[expr->axis];
    if (expr->op == EXPR_REAL)
        return expr->real;
    const double a = expr_eval_real(expr->left, axes);
    const double b = expr_eval_real(expr->right, axes);
    const bool divides =
        expr->op == EXPR_DIVIDE || expr->op == EXPR_REMAINDER || expr->op == EXPR_CEILDIV;
    if (divides && b == 0.0)
        return (double)NAN;
    switch (expr->op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUBTRACT:
        return a - b;
    case EXPR_MULTIPLY:
        return a * b;
    case EXPR_DIVIDE:
        return a / b;
    case EXPR_REMAINDER:
        return a - floor(a / b) * b;
    case EXPR_CEILDIV:
        return ceil(a / b);
    case EXPR_MIN:
        return a < b ? a : b;
    case EXPR_MAX:
        return a > b ? a : b;
    case EXPR_NUMBER:
    case EXPR_AXIS:
    case EXPR_REAL:
    case EXPR_OP_COUNT:
        break;
    }
    BUG("expr: operator %d", (int)expr->op);
}

static const char *const op_names[] = {
    [EXPR_NUMBER] = "number", [EXPR_AXIS] = "axis",       [EXPR_REAL] = "real",
    [EXPR_ADD] = "+",         [EXPR_SUBTRACT] = "-",      [EXPR_MULTIPLY] = "*",
    [EXPR_DIVIDE] = "/",      [EXPR_REMAINDER] = "%",     [EXPR_MIN] = "min",
    [EXPR_MAX] = "max",       [EXPR_CEILDIV] = "ceildiv",
};
static_assert(sizeof op_names / sizeof *op_names == EXPR_OP_COUNT, "name each operator");

void expr_print(const struct task_expr *expr, const struct task *task, struct buf *out)
{
    if (expr->op == EXPR_NUMBER) {
        (void)buf_printf(out, "%" PRId64, expr->number);
    } else if (expr->op == EXPR_AXIS) {
        (void)buf_append_str(out, task->axes[expr->axis].name);
    } else if (expr->op == EXPR_REAL) {
        (void)buf_printf(out, "%a", expr->real);
    } else {
        (void)buf_printf(out, "(%s ", op_names[expr->op]);
        expr_print(expr->left, task, out);
        (void)buf_append_char(out, ' ');
        expr_print(expr->right, task, out);
        (void)buf_append_char(out, ')');
    }
}

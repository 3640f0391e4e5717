/* Expressions of several rounds: scalars of an instance, vectors of a group of lanes. */
#include "moves/nest/affine.h"
#include "moves/nest/vector_internal.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

static const struct nest_expr *refuse(const struct lanes *l, const char *why)
{
    (void)nest_refuse(l->edit, l->refusal, "%s", why);
    return NULL;
}

static const struct nest_expr *call(const struct lanes *l, const char *name,
                                    const struct nest_expr *const *args, size_t count)
{
    struct nest_expr *expr = arena_alloc(l->edit->arena, sizeof *expr);
    expr->kind = NEST_CALL;
    expr->text = name;
    for (size_t i = 0; i < count; i++)
        expr->args[expr->arg_count++] = args[i];
    vector_need(l->edit, name);
    return expr;
}

static const struct nest_expr *with_args(const struct lanes *l, const struct nest_expr *expr,
                                         const struct nest_expr *const *args)
{
    struct nest_expr *copy = arena_memdup(l->edit->arena, expr, sizeof *expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = args[i];
    return copy;
}

static bool is_op(const struct nest_expr *expr, const char *const *ops)
{
    for (; *ops; ops++) {
        if (str_equal(expr->text, *ops))
            return true;
    }
    return false;
}

static bool is_comparison(const struct nest_expr *expr)
{
    static const char *const ops[] = {"<", "<=", ">", ">=", "==", "!=", NULL};
    return expr->kind == NEST_BINARY && is_op(expr, ops);
}

/* How far the instance's counter is from the loop's. */
static const struct nest_expr *counter_at(const struct lanes *l, size_t tile,
                                          const struct instance *at)
{
    const struct vector_tile *t = &l->tiles->items[tile];
    const int64_t width = tile == l->tiles->vector ? l->lanes : 1;
    return nest_index(l->edit, "+", nest_name(l->edit, t->loop->symbol),
                      nest_number(l->edit, at->at[tile] * width * t->step));
}

const struct nest_expr *lanes_scalar(struct lanes *l, const struct nest_expr *expr,
                                     const struct instance *at)
{
    for (size_t t = 0; t < l->tiles->count; t++)
        expr = nest_replace(l->edit, expr, l->tiles->items[t].loop->symbol, counter_at(l, t, at));
    for (size_t v = 0; v < l->variable_count; v++) {
        const struct lane_variable *variable = &l->variables[v];
        const struct nest_symbol *copy = variable->copies[lanes_copy(l, variable->mask, at)];
        if (copy && nest_expr_uses(expr, variable->symbol))
            expr = nest_replace(l->edit, expr, variable->symbol, nest_name(l->edit, copy));
    }
    return expr;
}

/* "0.1": in C of more digits than a float. */
static bool is_double(const struct nest_expr *expr)
{
    if (expr->kind == NEST_NUMBER)
        return strpbrk(expr->text, ".eEpP") && !strpbrk(expr->text, "fFxX");
    if ((expr->kind == NEST_NAME || expr->kind == NEST_ACCESS) &&
        strstr(expr->symbol->type, "double"))
        return true;
    for (size_t i = 0; expr->kind != NEST_CAST && expr->kind != NEST_ACCESS && i < expr->arg_count;
         i++) {
        if (is_double(expr->args[i]))
            return true;
    }
    return false;
}

const struct nest_expr *lanes_beside(struct lanes *l, const struct nest_expr *expr)
{
    if (l->edit->nest->task->dtype == DTYPE_F32 && is_double(expr) &&
        !nest_allow(l->edit, NUMERICS_APPROXIMATE, l->refusal))
        return NULL;
    if ((expr->kind == NEST_NAME || expr->kind == NEST_ACCESS) &&
        vector_is_lane(l->edit, expr->symbol->type))
        return expr;
    if (expr->kind == NEST_CAST && str_equal(expr->text, "real"))
        return expr;
    struct nest_expr *cast = arena_alloc(l->edit->arena, sizeof *cast);
    cast->kind = NEST_CAST;
    cast->text = "real";
    cast->args[cast->arg_count++] = expr;
    return cast;
}

static bool is_vector(struct lanes *l, const struct nest_expr *expr)
{
    return (lanes_mask(l, expr) & l->vector_bit) != 0;
}

static bool is_vector_at(const struct nest_expr *expr)
{
    return expr->kind == NEST_CALL && str_equal(expr->text, "vreal_at");
}

/* The last subscript of a load, "i" of "x[i]" and of "vreal_at(x, i)"; NULL where another
 * subscript or array differs. */
static const struct nest_expr *place_beside(const struct nest_expr *load,
                                            const struct nest_expr *other)
{
    if (load->kind != other->kind || load->arg_count != other->arg_count || load->arg_count == 0)
        return NULL;
    if (load->kind == NEST_ACCESS ? load->symbol != other->symbol
                                  : !is_vector_at(load) || !is_vector_at(other))
        return NULL;
    for (size_t i = 0; i + 1 < load->arg_count; i++) {
        if (!nest_expr_same(load->args[i], other->args[i]))
            return NULL;
    }
    return load->args[load->arg_count - 1];
}

/* The same element, however its place is written: in the rounds of a stencil "x[(i + 1 + 1) * w]"
 * is what the round before has as "x[(i + 1) * w + w]". */
static bool is_same_load(const struct nest_expr *load, const struct nest_expr *other)
{
    struct poly here, there;
    if (nest_expr_same(load, other))
        return true;
    const struct nest_expr *place = place_beside(load, other);
    return place && poly_of(place, &here) && poly_of(other->args[other->arg_count - 1], &there) &&
           poly_equal(&here, &there);
}

/* Where in a statement the same value is loaded for several instances it is loaded once. */
static const struct nest_expr *load_once(struct lanes *l, const struct nest_expr *load,
                                         const char *name, const char *type)
{
    if (!l->may_name_loads)
        return load;
    for (size_t i = 0; i < l->load_count; i++) {
        if (is_same_load(l->loads[i].load, load))
            return nest_name(l->edit, l->loads[i].symbol);
    }
    if (l->load_count == VECTOR_MAX_LOADS)
        return load;
    struct nest_stmt *declared = nest_new_variable(
        l->edit, arena_printf(l->edit->arena, "%s_%zu", name, l->load_count), type, load, 0);
    l->loads[l->load_count++] = (struct lane_load){load, declared->symbol};
    lanes_emit(l, declared);
    return nest_name(l->edit, declared->symbol);
}

bool lanes_are_neighbours(struct lanes *l, const struct nest_expr *access)
{
    int64_t stride = 0;
    const size_t last = access->arg_count - 1;
    for (size_t i = 0; i < last; i++) {
        if (is_vector(l, access->args[i]))
            return false;
    }
    return vector_stride(l->edit, l->tiles->items[l->tiles->vector].loop, access->args[last],
                         &stride) &&
           stride == 1;
}

const struct nest_expr *lanes_place(struct lanes *l, const struct nest_expr *access,
                                    const struct instance *at)
{
    const struct nest_expr *element = lanes_scalar(l, access, at);
    if (!is_vector(l, access))
        return element;
    const size_t last = access->arg_count - 1;
    if (!vector_is_lane(l->edit, access->symbol->type)) {
        (void)nest_refuse(l->edit, l->refusal, "'%s' is of type '%s', not of the lanes'",
                          access->symbol->name, access->symbol->type);
        return NULL;
    }
    if (!lanes_are_neighbours(l, access)) {
        (void)nest_refuse(l->edit, l->refusal, "neighbours in '%s' are not neighbours in '%s'",
                          l->tiles->items[l->tiles->vector].loop->name, access->symbol->name);
        return NULL;
    }
    const struct nest_expr *array = nest_name(l->edit, access->symbol);
    if (last > 0)
        array = nest_access(l->edit, access->symbol, element->args, last);
    return call(l, "vreal_at", (const struct nest_expr *[]){array, element->args[last]}, 2);
}

static const struct nest_expr *vector_load(struct lanes *l, const struct nest_expr *access,
                                           const struct instance *at)
{
    const struct nest_expr *place = lanes_place(l, access, at);
    return place ? load_once(l, place, access->symbol->name, "const vreal") : NULL;
}

/* a > b ? a : b */
static const char *extremum(const struct nest_expr *expr)
{
    const struct nest_expr *test = expr->args[0];
    if (test->kind != NEST_BINARY || (test->text[0] != '<' && test->text[0] != '>') ||
        test->text[1] != '\0')
        return NULL;
    const bool same = nest_expr_same(test->args[0], expr->args[1]) &&
                      nest_expr_same(test->args[1], expr->args[2]);
    return !same ? NULL : test->text[0] == '>' ? "vreal_max" : "vreal_min";
}

static const struct nest_expr *conditional(struct lanes *l, const struct nest_expr *expr,
                                           const struct instance *at)
{
    const struct nest_expr *yes = lanes_vector(l, expr->args[1], at);
    const struct nest_expr *no = yes ? lanes_vector(l, expr->args[2], at) : NULL;
    const char *name = extremum(expr);
    if (!no)
        return NULL;
    if (name)
        return call(l, name, (const struct nest_expr *[]){yes, no}, 2);
    if (!is_vector(l, expr->args[0]))
        return nest_conditional(l->edit, lanes_scalar(l, expr->args[0], at), yes, no);
    const struct nest_expr *test = lanes_value(l, expr->args[0], at);
    return test ? call(l, "vreal_select", (const struct nest_expr *[]){test, yes, no}, 3) : NULL;
}

static bool is_one(const struct nest_expr *expr)
{
    double value = 0;
    while (expr->kind == NEST_CAST)
        expr = expr->args[0];
    return expr->kind == NEST_NUMBER && sscanf(expr->text, "%lf", &value) == 1 && value == 1;
}

/* The x of "1 + tanh(x)", which is 0 without its last digits where tanh(x) is near -1; or NULL. */
static const struct nest_expr *one_plus_tanh(const struct lanes *l, const struct nest_expr *expr)
{
    if (!str_equal(expr->text, "+"))
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        const struct nest_expr *other = expr->args[i];
        const char *name = other->kind == NEST_CALL ? vector_function(l->edit, other->text) : NULL;
        if (name && str_equal(name, "vreal_tanh") && other->arg_count == 1 &&
            is_one(expr->args[1 - i]))
            return other->args[0];
    }
    return NULL;
}

static const struct nest_expr *binary(struct lanes *l, const struct nest_expr *expr,
                                      const struct instance *at)
{
    static const char *const arithmetic[] = {"+", "-", "*", "/", NULL};
    const bool is_both = str_equal(expr->text, "&&"), is_either = str_equal(expr->text, "||");
    const struct nest_expr *args[2];
    const struct nest_expr *inside = one_plus_tanh(l, expr);
    if (inside && is_vector(l, inside)) {
        args[0] = nest_allow(l->edit, NUMERICS_APPROXIMATE, l->refusal) ? lanes_value(l, inside, at)
                                                                        : NULL;
        return args[0] ? call(l, "vreal_1_plus_tanh", args, 1) : NULL;
    }
    if (!is_op(expr, arithmetic) && !is_comparison(expr) && !is_both && !is_either)
        return refuse(l, "an operation on whole numbers in vector code");
    for (size_t i = 0; i < 2; i++) {
        const bool has_lanes = is_vector(l, expr->args[i]);
        if ((is_both || is_either) && !has_lanes)
            return refuse(l, "a condition that is partly the same for all lanes");
        args[i] = lanes_value(l, expr->args[i], at);
        if (!args[i])
            return NULL;
        if (!has_lanes)
            args[i] = lanes_beside(l, args[i]);
        if (!args[i])
            return NULL;
    }
    return nest_binary(l->edit, is_both ? "&" : is_either ? "|" : expr->text, args[0], args[1]);
}

const char *vector_function(const struct nest_edit *edit, const char *name)
{
    static const struct {
        const char *name, *vector;
        bool only_single;
    } rows[] = {{"exp", "vreal_exp", true},
                {"tanh", "vreal_tanh", true},
                {"sqrt", "vreal_sqrt", false},
                {"fabs", "vreal_abs", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t length = strlen(rows[i].name);
        const bool is_single = edit->nest->task->dtype == DTYPE_F32;
        if (strncmp(name, rows[i].name, length) == 0 &&
            (name[length] == '\0' || str_equal(name + length, "f")) &&
            (is_single || !rows[i].only_single))
            return rows[i].vector;
    }
    return NULL;
}

static const struct nest_expr *function(struct lanes *l, const struct nest_expr *expr,
                                        const struct instance *at)
{
    if ((str_equal(expr->text, "real_load") || str_equal(expr->text, "real_store")) &&
        expr->arg_count == 1)
        return lanes_vector(l, expr->args[0], at);
    const char *name = vector_function(l->edit, expr->text);
    if (!name || expr->arg_count != 1) {
        (void)nest_refuse(l->edit, l->refusal, "'%s' has no vector form here", expr->text);
        return NULL;
    }
    const bool is_approximate = str_equal(name, "vreal_exp") || str_equal(name, "vreal_tanh");
    if (is_approximate && !nest_allow(l->edit, NUMERICS_APPROXIMATE, l->refusal))
        return NULL;
    const struct nest_expr *arg = lanes_vector(l, expr->args[0], at);
    return arg ? call(l, name, &arg, 1) : NULL;
}

static const struct nest_expr *unary(struct lanes *l, const struct nest_expr *expr,
                                     const struct instance *at)
{
    const struct nest_expr *arg = lanes_value(l, expr->args[0], at);
    if (!arg)
        return NULL;
    if (expr->kind == NEST_CAST)
        return vector_is_lane(l->edit, expr->text) ? arg : refuse(l, "a conversion in vector code");
    struct nest_expr *copy = arena_memdup(l->edit->arena, expr, sizeof *expr);
    copy->args[0] = arg;
    if (str_equal(expr->text, "!"))
        copy->text = "~";
    else if (str_equal(expr->text, "~"))
        return refuse(l, "an operation on whole numbers in vector code");
    return copy;
}

const struct nest_expr *lanes_value(struct lanes *l, const struct nest_expr *expr,
                                    const struct instance *at)
{
    if (!is_vector(l, expr)) {
        const struct nest_expr *scalar = lanes_scalar(l, expr, at);
        return expr->kind == NEST_ACCESS && !expr->symbol->is_integer
                   ? load_once(l, scalar, expr->symbol->name, "const real")
                   : scalar;
    }
    switch (expr->kind) {
    case NEST_NAME:
        return expr->symbol->kind == NEST_COUNTER
                   ? refuse(l, "the counter of the vector loop is used as a value")
                   : lanes_scalar(l, expr, at);
    case NEST_ACCESS:
        return vector_load(l, expr, at);
    case NEST_BINARY:
        return binary(l, expr, at);
    case NEST_CONDITIONAL:
        return conditional(l, expr, at);
    case NEST_UNARY:
    case NEST_CAST:
        return unary(l, expr, at);
    case NEST_CALL:
        return function(l, expr, at);
    case NEST_NUMBER:
        break;
    }
    return with_args(l, expr, expr->args);
}

const struct nest_expr *lanes_vector(struct lanes *l, const struct nest_expr *expr,
                                     const struct instance *at)
{
    const struct nest_expr *value = lanes_value(l, expr, at);
    return !value || is_vector(l, expr) ? value : call(l, "vreal_of", &value, 1);
}

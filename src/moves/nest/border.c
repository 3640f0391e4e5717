/* What a sum with borders reads, and what its condition keeps it from. */
#include "moves/nest/border.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of putting local variables in; literals that are certainly finite in every precision. */
enum { MOST_INLINED = 32 };
#define LARGEST_LITERAL 1e4

static const struct poly one = {.terms = {{.factor = 1}}, .count = 1};

const struct nest_expr *border_expr(const struct nest_edit *edit, const struct poly *poly)
{
    const struct nest_expr *sum = nest_number(edit, 0);
    for (size_t i = 0; i < poly->count; i++) {
        const struct poly_term *term = &poly->terms[i];
        const bool is_less = term->factor < 0;
        const struct nest_expr *product = nest_number(edit, is_less ? -term->factor : term->factor);
        for (size_t s = 0; s < term->degree; s++)
            product = nest_index(edit, "*", product, nest_name(edit, term->symbols[s]));
        sum = nest_index(edit, is_less ? "-" : "+", sum, product);
    }
    return sum;
}

/* --- the statement -----------------------------------------------------------------------------
 */

struct search {
    const struct nest_symbol *array;
    struct nest_stmt *now, *found;
    const struct nest_expr *access;
    size_t count;
};

static bool look_at_expr(void *context, const struct nest_expr *expr, bool is_target)
{
    struct search *search = context;
    (void)is_target;
    if (expr->symbol == search->array) {
        search->count++;
        search->found = search->now;
        search->access = expr;
    }
    return true;
}

static bool look_at(void *context, struct nest_stmt *stmt, int depth)
{
    struct search *search = context;
    (void)depth;
    search->now = stmt;
    return stmt->kind != NEST_OPAQUE && nest_walk_exprs(stmt, look_at_expr, search);
}

static bool has_argument(const struct nest_symbol *symbol)
{
    return symbol->kind == NEST_ARRAY && symbol->argument >= 0;
}

static bool is_input(const struct nest_symbol *symbol)
{
    return has_argument(symbol) && !symbol->is_written;
}

/* Products of elements of arguments and of literals only: 0 times that is 0, where all are finite.
 */
static bool add_factors(struct border *b, const struct nest_expr *expr)
{
    switch (expr->kind) {
    case NEST_NUMBER:
        return fabs(strtod(expr->text, NULL)) <= LARGEST_LITERAL;
    case NEST_CAST:
        return add_factors(b, expr->args[0]);
    case NEST_BINARY:
        return str_equal(expr->text, "*") && add_factors(b, expr->args[0]) &&
               add_factors(b, expr->args[1]);
    case NEST_ACCESS:
        if (expr == b->access)
            return true;
        if (!is_input(expr->symbol) || b->factor_count == BORDER_MAX_FACTORS)
            return false;
        b->factors[b->factor_count++] = expr;
        return true;
    case NEST_NAME:
    case NEST_UNARY:
    case NEST_CONDITIONAL:
    case NEST_CALL:
        return false;
    }
    return false;
}

static bool find_sum(const struct nest_edit *edit, struct nest_stmt *loop,
                     const struct nest_symbol *array, struct border *b, const char **refusal)
{
    struct search search = {.array = array};
    const char *name = array->name;
    if (!is_input(array))
        return nest_refuse(edit, refusal, "'%s' is no argument that is only read", name);
    if (!nest_walk(loop->body, look_at, &search))
        return nest_refuse(edit, refusal, "loop '%s' holds what is not understood", loop->name);
    if (search.count != 1)
        return nest_refuse(edit, refusal, "loop '%s' reads '%s' in %zu places", loop->name, name,
                           search.count);
    b->sum = search.found;
    b->access = search.access;
    b->guard = nest_parent(edit->nest, b->sum);
    if (b->sum->kind != NEST_ASSIGN || !str_equal(b->sum->op, "+=") ||
        b->access->kind != NEST_ACCESS || b->sum->target->kind == NEST_CALL ||
        b->sum->target->symbol->is_integer || !add_factors(b, b->sum->value))
        return nest_refuse(edit, refusal,
                           "'%s' is not added up, multiplied by elements of arguments", name);
    if (!b->guard || b->guard->kind != NEST_IF || b->guard->otherwise || b->guard->body != b->sum ||
        b->sum->next)
        return nest_refuse(edit, refusal, "no condition stands around the sum of '%s' alone", name);
    return true;
}

/* --- local variables ---------------------------------------------------------------------------
 */

struct local {
    const struct nest_symbol *symbol;
    const struct nest_expr *value;
};

static bool find_value(void *context, struct nest_stmt *stmt, int depth)
{
    struct local *local = context;
    (void)depth;
    if (stmt->kind == NEST_DECLARE && stmt->symbol == local->symbol)
        local->value = stmt->value;
    return true;
}

static const struct nest_symbol *find_local(const struct nest_edit *edit,
                                            const struct nest_expr *expr)
{
    const struct nest_symbol *symbol = expr->symbol;
    if (expr->kind == NEST_NAME && symbol->kind == NEST_SCALAR && symbol->is_integer &&
        !symbol->is_parameter && !nest_type_is_unsigned(symbol->type) &&
        !nest_type_is_narrow(symbol->type) && !nest_list_assigns(edit->nest->body, symbol))
        return symbol;
    for (size_t i = 0; i < expr->arg_count; i++) {
        const struct nest_symbol *found = find_local(edit, expr->args[i]);
        if (found)
            return found;
    }
    return NULL;
}

/* `const int64_t r = i + di - 1;`: the expression with r put in. */
static const struct nest_expr *with_values(const struct nest_edit *edit,
                                           const struct nest_expr *expr)
{
    for (int i = 0; i < MOST_INLINED; i++) {
        struct local local = {.symbol = find_local(edit, expr)};
        struct poly poly;
        if (!local.symbol)
            break;
        (void)nest_walk(edit->nest->body, find_value, &local);
        if (!local.value || !poly_of(local.value, &poly))
            break;
        expr = nest_replace(edit, expr, local.symbol, local.value);
    }
    return expr;
}

/* --- how far it reads --------------------------------------------------------------------------
 */

/* The loops in `loop` around the sum. */
struct rounds {
    struct nest_stmt *loops[NEST_MAX_DEPTH];
    size_t count;
};

static struct nest_stmt *counted_by(const struct rounds *rounds, const struct nest_symbol *symbol)
{
    for (size_t i = 0; i < rounds->count; i++) {
        if (rounds->loops[i]->symbol == symbol)
            return rounds->loops[i];
    }
    return NULL;
}

/* Sizes, and counters: nothing that is computed in the loop. */
static bool is_plain(const struct nest_edit *edit, const struct poly *poly)
{
    for (size_t i = 0; i < poly->count; i++) {
        for (size_t s = 0; s < poly->terms[i].degree; s++) {
            const struct nest_symbol *symbol = poly->terms[i].symbols[s];
            if (symbol->kind != NEST_COUNTER && symbol->kind != NEST_CONSTANT &&
                (!symbol->is_parameter || nest_list_assigns(edit->nest->body, symbol)))
                return false;
        }
    }
    return true;
}

static bool has_counter(const struct rounds *rounds, const struct poly *poly)
{
    for (size_t i = 0; i < poly->count; i++) {
        for (size_t s = 0; s < poly->terms[i].degree; s++) {
            if (counted_by(rounds, poly->terms[i].symbols[s]))
                return true;
        }
    }
    return false;
}

/* The least or the greatest value in a round: each counter where it begins or ends. */
static bool extreme(const struct nest_edit *edit, const struct rounds *rounds,
                    const struct poly *poly, bool is_most, struct poly *out)
{
    *out = (struct poly){0};
    for (size_t i = 0; i < poly->count; i++) {
        const struct poly_term *term = &poly->terms[i];
        const struct poly alone = {.terms = {*term}, .count = 1};
        struct nest_stmt *loop = term->degree == 1 ? counted_by(rounds, term->symbols[0]) : NULL;
        const char *why = NULL;
        struct poly value;
        if (!loop && (has_counter(rounds, &alone) || !poly_add(out, &alone, 1)))
            return false;
        if (!loop)
            continue;
        if (!nest_counts_by_one(edit, loop, &why))
            return false;
        const bool at_end = is_most == (term->factor > 0);
        const struct nest_expr *last =
            nest_index(edit, "-", nest_end(edit, loop), nest_number(edit, 1));
        if (!poly_of(with_values(edit, at_end ? last : loop->from), &value) ||
            !poly_add(out, &value, term->factor))
            return false;
    }
    return !has_counter(rounds, out);
}

/* --- the condition -----------------------------------------------------------------------------
 */

struct sides {
    bool low[NEST_MAX_DIMENSIONS], high[NEST_MAX_DIMENSIONS]; /* the condition keeps within */
};

/* "a < b" as: the polynomial is not negative. */
static bool not_negative(const struct nest_edit *edit, const struct nest_expr *condition,
                         struct poly *out)
{
    struct poly a;
    struct poly b;
    if (condition->kind != NEST_BINARY || !strchr("<>", condition->text[0]) ||
        (condition->text[1] != '\0' && condition->text[1] != '=') ||
        !poly_of(with_values(edit, condition->args[0]), &a) ||
        !poly_of(with_values(edit, condition->args[1]), &b))
        return false;
    const bool is_less = condition->text[0] == '<';
    *out = is_less ? b : a;
    return poly_add(out, is_less ? &a : &b, -1) &&
           (condition->text[1] == '=' || poly_add(out, &one, -1));
}

/* Does the condition only keep subscripts within the array? Notes which. */
static bool is_edge(const struct nest_edit *edit, const struct border *b,
                    const struct nest_expr *condition, struct sides *sides)
{
    struct poly asked;
    bool any = false;
    if (!not_negative(edit, condition, &asked))
        return false;
    for (size_t d = 0; d < b->rank; d++) {
        struct poly beyond = b->size[d];
        if (b->is_fixed[d])
            continue;
        const bool is_low = poly_equal(&asked, &b->at[d]);
        const bool is_high = poly_add(&beyond, &b->at[d], -1) && poly_add(&beyond, &one, -1) &&
                             poly_equal(&asked, &beyond);
        sides->low[d] = sides->low[d] || is_low;
        sides->high[d] = sides->high[d] || is_high;
        any = any || is_low || is_high;
    }
    return any;
}

/* Both sides of every "&&". */
static void read_condition(const struct nest_edit *edit, struct border *b,
                           const struct nest_expr *condition, struct sides *sides)
{
    if (condition->kind == NEST_BINARY && str_equal(condition->text, "&&")) {
        read_condition(edit, b, condition->args[0], sides);
        read_condition(edit, b, condition->args[1], sides);
    } else if (!is_edge(edit, b, condition, sides)) {
        b->left = b->left ? nest_binary(edit, "&&", b->left, condition) : condition;
    }
}

/* What a size is at least, by the task; 0 where it says nothing. */
static int64_t least_size(const struct nest_edit *edit, const struct nest_symbol *symbol)
{
    const struct task *task = edit->nest->task;
    for (size_t i = 0; symbol->is_parameter && i < task->axis_count; i++) {
        if (str_equal(task->axes[i].name, symbol->task_name))
            return task->axes[i].minimum;
    }
    return 0;
}

/* A number that the polynomial is never above: sizes are at least what the task says. */
static bool never_above(const struct nest_edit *edit, const struct poly *poly, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < poly->count; i++) {
        const struct poly_term *term = &poly->terms[i];
        int64_t value = term->factor;
        if (term->degree > 1 || (term->degree == 1 && term->factor > 0) ||
            value < -NEST_MAX_FACTOR || value > NEST_MAX_FACTOR)
            return false;
        if (term->degree == 1) {
            const int64_t least = least_size(edit, term->symbols[0]);
            if (least <= 0 || __builtin_mul_overflow(value, least, &value))
                return false;
        }
        *out += value;
    }
    return *out <= NEST_MAX_FACTOR;
}

/* How far the subscript goes beyond an edge; false where that is no number, or is where no
 * condition keeps it from. */
static bool measure(const struct nest_edit *edit, const struct rounds *rounds, struct border *b,
                    size_t d, const struct sides *sides)
{
    struct poly least;
    struct poly most;
    struct poly below = {0};
    int64_t low = 0;
    int64_t high = 0;
    if (!extreme(edit, rounds, &b->at[d], false, &least) ||
        !extreme(edit, rounds, &b->at[d], true, &most) || !poly_add(&most, &b->size[d], -1) ||
        !poly_add(&most, &one, 1) || !poly_add(&below, &least, -1) ||
        !never_above(edit, &below, &low) || !never_above(edit, &most, &high))
        return false;
    b->before[d] = low > 0 ? low : 0;
    b->behind[d] = high > 0 ? high : 0;
    return (b->before[d] == 0 || sides->low[d]) && (b->behind[d] == 0 || sides->high[d]);
}

/* The subscripts of an access by the dimensions of its array, which are sizes. */
static bool find_subscripts(const struct nest_edit *edit, const struct nest_expr *access,
                            struct poly *at, struct poly *size, size_t *rank, const char **refusal)
{
    struct nest_expr *plain = arena_memdup(edit->arena, access, sizeof *plain);
    const struct nest_symbol *array = access->symbol;
    const char *why = NULL;
    size_t dimensions = 0;
    for (size_t i = 0; i < plain->arg_count; i++)
        plain->args[i] = with_values(edit, plain->args[i]);
    if (!nest_shape(edit->nest, array, size, &dimensions, &why) ||
        !nest_delinearize(edit->nest, plain, at, rank, &array, &why))
        return nest_refuse(edit, refusal, "'%s': %s", array->name, why);
    bool is_ok = *rank == dimensions;
    for (size_t d = 0; is_ok && d < *rank; d++)
        is_ok = is_plain(edit, &at[d]) && is_plain(edit, &size[d]);
    return is_ok || nest_refuse(edit, refusal,
                                "a subscript of '%s' is no sum of counters and sizes", array->name);
}

/* In every run, whether the condition holds or not. */
static bool stays_within(const struct nest_edit *edit, const struct rounds *all,
                         const struct nest_expr *access, const char **refusal)
{
    struct border other = {0};
    const struct sides none = {0};
    if (!has_argument(access->symbol))
        return nest_refuse(edit, refusal, "'%s' is no argument", access->symbol->name);
    if (!find_subscripts(edit, access, other.at, other.size, &other.rank, refusal))
        return false;
    for (size_t d = 0; d < other.rank; d++) {
        if (!measure(edit, all, &other, d, &none))
            return nest_refuse(edit, refusal,
                               "the condition may keep '%s' from being used beyond its edges",
                               access->symbol->name);
    }
    return true;
}

/* What else the statement and the copy touch. */
static bool others_stay_within(const struct nest_edit *edit, const struct rounds *all,
                               struct border *b, const char **refusal)
{
    const struct sides none = {0};
    for (size_t i = 0; i < b->factor_count; i++) {
        if (!stays_within(edit, all, b->factors[i], refusal))
            return false;
    }
    if (b->sum->target->kind == NEST_ACCESS && !stays_within(edit, all, b->sum->target, refusal))
        return false;
    for (size_t d = 0; d < b->rank; d++) {
        if (b->is_fixed[d] && !measure(edit, all, b, d, &none))
            return nest_refuse(edit, refusal, "dimension %zu of '%s' may end before the loops do",
                               d + 1, b->access->symbol->name);
    }
    return true;
}

bool border_find(const struct nest_edit *edit, struct nest_stmt *loop,
                 const struct nest_symbol *array, struct border *out, const char **refusal)
{
    struct rounds rounds = {0};
    struct sides sides = {0};
    bool any = false;
    *out = (struct border){.takes_all = out->takes_all};
    if (!find_sum(edit, loop, array, out, refusal))
        return false;
    struct rounds all = {0};
    all.count = nest_loops_around(edit->nest, out->sum, all.loops);
    for (size_t i = all.count; i-- > 0 && all.loops[i] != loop;)
        rounds.loops[rounds.count++] = all.loops[i];
    if (out->takes_all)
        rounds.loops[rounds.count++] = loop;
    if (!find_subscripts(edit, out->access, out->at, out->size, &out->rank, refusal))
        return false;
    for (size_t d = 0; d < out->rank; d++)
        out->is_fixed[d] = !has_counter(&rounds, &out->at[d]);
    read_condition(edit, out, out->guard->value, &sides);
    for (size_t d = 0; d < out->rank; d++) {
        if (!out->is_fixed[d] && !measure(edit, &rounds, out, d, &sides))
            return nest_refuse(
                edit, refusal,
                "how far '%s' is read beyond its edges in dimension %zu is not known", array->name,
                d + 1);
        any = any || out->before[d] > 0 || out->behind[d] > 0;
    }
    if (!any)
        return nest_refuse(edit, refusal, "'%s' is not read beyond its edges", array->name);
    return others_stay_within(edit, &all, out, refusal);
}

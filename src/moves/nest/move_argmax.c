/* argmax(j): the place of the first of the largest (or smallest) elements, many compared at once.
 */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"
#include "moves/nest/vector.h"

#include "base/str.h"

/* if (x[j] > x[best]) best = j;   or   if (x[j] > most) { most = x[j]; best = j; } */
struct search {
    struct nest_edit *edit;
    struct nest_stmt *loop;
    const struct nest_expr *element; /* x[j] */
    const struct nest_expr *start;   /* what it has to exceed: x[best], most */
    bool is_largest;
    const struct nest_symbol *best, *most; /* `most` may be NULL */
    const struct nest_expr *place;         /* what best is set to: j, (int32_t)j */
};

static bool is_counter(const struct nest_expr *expr, const struct nest_symbol *counter)
{
    while (expr->kind == NEST_CAST)
        expr = expr->args[0];
    return expr->kind == NEST_NAME && expr->symbol == counter;
}

/* Can it hold what the counter holds? Types of 32 bits are taken to: rows are no longer. */
static bool holds_places(const struct nest_edit *edit, const char *type)
{
    static const char *const types[] = {
        "int",      "int32_t",  "int64_t", "ptrdiff_t",    "long",          "long long", "unsigned",
        "uint32_t", "uint64_t", "size_t",  "unsigned int", "unsigned long", NULL};
    for (size_t i = 0; types[i]; i++) {
        if (str_equal(nest_plain_type(edit, type), types[i]))
            return true;
    }
    return false;
}

/* The element at `best` is the largest so far only where `best` is set to the place itself. */
static bool keeps_places(const struct search *s)
{
    bool keeps = holds_places(s->edit, s->best->type);
    for (const struct nest_expr *e = s->place; e->kind == NEST_CAST; e = e->args[0])
        keeps = keeps && holds_places(s->edit, e->text);
    return keeps;
}

/* Which side of the comparison is the loop's element, and what it is compared with. */
static bool read_comparison(struct search *s, const struct nest_expr *condition)
{
    if (condition->kind != NEST_BINARY ||
        (!str_equal(condition->text, ">") && !str_equal(condition->text, "<")))
        return false;
    const bool is_left = nest_expr_uses(condition->args[0], s->loop->symbol);
    s->element = condition->args[is_left ? 0 : 1];
    s->start = condition->args[is_left ? 1 : 0];
    s->is_largest = is_left == str_equal(condition->text, ">");
    return s->element->kind == NEST_ACCESS && s->element->arg_count == 1 &&
           !nest_expr_uses(s->start, s->loop->symbol);
}

static bool read_assignments(struct search *s, const struct nest_stmt *first)
{
    for (; first; first = first->next) {
        if (first->kind != NEST_ASSIGN || !str_equal(first->op, "=") ||
            first->target->kind != NEST_NAME)
            return false;
        const struct nest_symbol *target = first->target->symbol;
        if (is_counter(first->value, s->loop->symbol) && target->is_integer && !s->best) {
            s->best = target;
            s->place = first->value;
        } else if (nest_expr_same(first->value, s->element) && !s->most) {
            s->most = target;
        } else {
            return false;
        }
    }
    return s->best != NULL;
}

/* Is what an element has to exceed the largest so far? */
static bool starts_at_best(const struct search *s)
{
    if (s->most)
        return s->start->kind == NEST_NAME && s->start->symbol == s->most &&
               vector_is_lane(s->edit, s->most->type);
    const struct nest_expr *at_best =
        nest_replace(s->edit, s->element, s->loop->symbol, nest_name(s->edit, s->best));
    return nest_expr_same(at_best, s->start);
}

static bool find(struct search *s, const char **refusal)
{
    int64_t stride = 0;
    const struct nest_stmt *branch = s->loop->body;
    if (!branch || branch->next || branch->kind != NEST_IF || branch->otherwise ||
        !read_comparison(s, branch->value) || !read_assignments(s, branch->body) ||
        !starts_at_best(s))
        return nest_refuse(s->edit, refusal,
                           "loop '%s' does not search where the largest element is", s->loop->name);
    if (!s->most && !keeps_places(s))
        return nest_refuse(s->edit, refusal, "'%s' holds fewer places than counter '%s'",
                           s->best->name, s->loop->name);
    int64_t from = 0;
    const bool begins_at_0 = nest_is_number(s->loop->from, &from) && from == 0;
    if (s->loop->step != 1 ||
        (nest_type_is_unsigned(s->loop->symbol->type) && !begins_at_0)) /* begin_of */
        return nest_refuse(s->edit, refusal, "loop '%s' does not count up by 1", s->loop->name);
    if (!vector_is_lane(s->edit, s->element->symbol->type) ||
        !vector_stride(s->edit, s->loop, s->element->args[0], &stride) || stride != 1)
        return nest_refuse(s->edit, refusal,
                           "neighbours in '%s' are no neighbours of reals in "
                           "'%s'",
                           s->loop->name, s->element->symbol->name);
    if (nest_expr_uses(s->element, s->best) || nest_expr_uses(s->loop->bound, s->best) ||
        nest_expr_uses(s->loop->from, s->best))
        return nest_refuse(s->edit, refusal, "'%s' decides where loop '%s' looks", s->best->name,
                           s->loop->name);
    return true;
}

/* Where the loop starts, as its counter has it: compared with what is found, which is one less
 * where nothing is, it must be signed even where `from` is not. (A counter that is unsigned starts
 * at 0.) */
static const struct nest_expr *begin_of(const struct search *s)
{
    const struct nest_expr *from = s->loop->from;
    const char *type = nest_plain_type(s->edit, s->loop->symbol->type);
    int64_t number = 0;
    if (nest_is_number(from, &number))
        return nest_number(s->edit, number);
    if (from->kind == NEST_NAME && str_equal(nest_plain_type(s->edit, from->symbol->type), type))
        return from;
    struct nest_expr *cast = arena_alloc(s->edit->arena, sizeof *cast);
    cast->kind = NEST_CAST;
    cast->text = type;
    cast->args[cast->arg_count++] = from;
    return cast;
}

static const struct nest_expr *call(const struct search *s, const struct nest_expr *begin,
                                    const struct nest_expr *end)
{
    struct nest_edit *edit = s->edit;
    struct nest_expr *expr = arena_alloc(edit->arena, sizeof *expr);
    expr->kind = NEST_CALL;
    expr->text = s->is_largest ? "vreal_first_largest" : "vreal_first_smallest";
    expr->args[expr->arg_count++] = nest_name(edit, s->element->symbol);
    expr->args[expr->arg_count++] =
        nest_replace(edit, s->element->args[0], s->loop->symbol, nest_number(edit, 0));
    expr->args[expr->arg_count++] = s->start;
    expr->args[expr->arg_count++] = begin;
    expr->args[expr->arg_count++] = end;
    vector_need(edit, expr->text);
    return expr;
}

/* if (1 < n) { const int64_t j_best = vreal_first_largest(...); if (j_best >= 1) best = j_best; }
 * The branch around it is for loops without rounds, which read nothing. */
static void rewrite(struct search *s)
{
    struct nest_edit *edit = s->edit;
    const int line = s->loop->line;
    struct nest_stmt **link = nest_link(edit->nest, s->loop);
    const struct nest_expr *begin = begin_of(s);
    const struct nest_expr *end = nest_end(edit, s->loop);
    struct nest_stmt *around = nest_new_stmt(edit, NEST_IF, line);
    struct nest_stmt *found =
        nest_new_variable(edit, arena_printf(edit->arena, "%s_best", s->loop->name),
                          "const int64_t", call(s, begin, end), line);
    found->symbol->is_integer = true;
    const struct nest_expr *at = nest_name(edit, found->symbol);
    struct nest_stmt *branch = nest_new_stmt(edit, NEST_IF, line);
    around->value = nest_binary(edit, "<", begin, end);
    around->body = found;
    found->next = branch;
    branch->value = nest_binary(edit, ">=", at, begin);
    branch->body = nest_assign(edit, nest_name(edit, s->best), "=",
                               nest_replace(edit, s->place, s->loop->symbol, at), line);
    if (s->most)
        branch->body->next = nest_assign(edit, nest_name(edit, s->most), "=",
                                         nest_replace(edit, s->element, s->loop->symbol, at), line);
    around->next = s->loop->next;
    *link = around;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct search s = {.edit = edit};
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    s.loop = nest_step_loop(edit, step, 0, refusal);
    if (!s.loop || vector_lanes(edit, refusal) == 0 || !find(&s, refusal))
        return false;
    rewrite(&s);
    return true;
}

/* Loops that do nothing but to ask. */
static bool add_search(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    if (stmt->kind == NEST_FOR && stmt->body && stmt->body->kind == NEST_IF && !stmt->body->next &&
        nest_is_innermost(stmt))
        nest_suggest(context, "argmax(%s)", stmt->name);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_search, arena, out, capacity);
}

const struct nest_move nest_move_argmax = {
    .name = "argmax",
    .group = "arithmetic",
    .intent = "searches the first of the largest or smallest elements in vectors with their places",
    .parameters = "argmax(LOOP)",
    .precondition =
        "an innermost loop that does nothing but 'if (x[j] > x[best]) best = j', or the "
        "same with the largest so far in a variable",
    .effect = "no round waits for the one before: up to ten times",
    .breaks = "",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

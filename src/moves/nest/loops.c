/* Cutting loops: into strips, and into whole groups of rounds and the rest. */
#include "moves/nest/edit.h"

#include <stdarg.h>
#include <string.h>

bool nest_type_is_unsigned(const char *type)
{
    return strstr(type, "unsigned") || strstr(type, "uint") || strstr(type, "size_t");
}

/* `bound` is from + a number: that; or the smaller of it and something. */
static bool distance(const struct nest_edit *edit, const struct nest_expr *from,
                     const struct nest_expr *bound, int64_t *out)
{
    if (nest_is_number(nest_index(edit, "-", bound, from), out))
        return true;
    if (bound->kind == NEST_BINARY && bound->text[0] == '+' && bound->text[1] == '\0' &&
        nest_expr_same(bound->args[0], from))
        return nest_is_number(bound->args[1], out);
    return bound->kind == NEST_CONDITIONAL && bound->args[0]->kind == NEST_BINARY &&
           bound->args[0]->text[0] == '<' &&
           nest_expr_same(bound->args[0]->args[0], bound->args[1]) &&
           nest_expr_same(bound->args[0]->args[1], bound->args[2]) &&
           (distance(edit, from, bound->args[1], out) || distance(edit, from, bound->args[2], out));
}

bool nest_widest(const struct nest_edit *edit, const struct nest_stmt *loop, int64_t *out)
{
    const struct nest_expr *end = nest_end(edit, loop);
    return end && loop->step == 1 && distance(edit, loop->from, end, out) && *out > 0;
}

bool nest_type_wraps(const char *type)
{
    return nest_type_is_unsigned(type) && !strstr(type, "8_t") && !strstr(type, "16_t") &&
           !strstr(type, "char") && !strstr(type, "short") && !strstr(type, "64_t") &&
           !strstr(type, "long") && !strstr(type, "size_t");
}

/* Something in it is unsigned: then so may be all that is computed with it. */
static bool has_unsigned(const struct nest_expr *expr)
{
    const bool is_named = expr->kind == NEST_NAME || expr->kind == NEST_ACCESS;
    if ((is_named && nest_type_is_unsigned(expr->symbol->type)) ||
        (expr->kind == NEST_CAST && nest_type_is_unsigned(expr->text)) ||
        (expr->kind == NEST_NUMBER && strpbrk(expr->text, "uU")))
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (has_unsigned(expr->args[i]))
            return true;
    }
    return false;
}

bool nest_counts_signed(const struct nest_stmt *loop)
{
    return !nest_type_is_unsigned(loop->symbol->type) && !has_unsigned(loop->from) &&
           !has_unsigned(loop->bound);
}

bool nest_counts_upward(const struct nest_edit *edit, const struct nest_stmt *loop,
                        const char **refusal)
{
    int64_t from = 0;
    if (loop->step <= 0)
        return nest_refuse(edit, refusal, "loop '%s' counts downward", loop->name);
    if (!nest_counts_signed(loop) && !(nest_is_number(loop->from, &from) && from == 0))
        return nest_refuse(edit, refusal,
                           "the counter or a bound of loop '%s' is unsigned, and it does not begin "
                           "at 0",
                           loop->name);
    return true;
}

bool nest_counts_by_one(const struct nest_edit *edit, const struct nest_stmt *loop,
                        const char **refusal)
{
    if (!nest_counts_upward(edit, loop, refusal))
        return false;
    if (loop->step != 1 || !nest_counts_signed(loop) || !nest_end(edit, loop))
        return nest_refuse(edit, refusal, "loop '%s' does not count up by 1 with a sign",
                           loop->name);
    if (loop->pragma)
        return nest_refuse(edit, refusal, "loop '%s' has a pragma", loop->name);
    return true;
}

bool nest_type_is_narrow(const char *type)
{
    return strstr(type, "8_t") || strstr(type, "16_t") || strstr(type, "char") ||
           strstr(type, "short");
}

/* Of the counter of strips: it goes past the end by up to a strip, for which a counter of 8 or 16
 * bits has no room. */
static const char *strips_type(const char *type)
{
    return nest_type_is_narrow(type) ? "int64_t" : type;
}

struct nest_stmt *nest_strip(struct nest_edit *edit, struct nest_stmt *loop, int64_t size,
                             const char **refusal)
{
    if (!nest_counts_upward(edit, loop, refusal))
        return NULL;
    const int64_t trips = nest_trip_count(edit, loop);
    const int64_t width = size * loop->step;
    const struct nest_expr *end = nest_end(edit, loop);
    struct nest_stmt **link = nest_link(edit->nest, loop);
    struct nest_stmt *strips =
        nest_new_loop(edit, arena_printf(edit->arena, "%s_s", loop->name),
                      strips_type(loop->symbol->type), loop->from, end, width, loop, loop->line);
    const struct nest_expr *begin = nest_name(edit, strips->symbol);
    const struct nest_expr *last = nest_index(edit, "+", begin, nest_number(edit, width));
    strips->next = loop->next;
    *link = strips;
    loop->next = NULL;
    loop->from = begin;
    loop->bound = trips > 0 && trips % size == 0 ? last : nest_smaller(edit, last, end);
    loop->op = "<";
    return strips;
}

bool nest_split_rest(struct nest_edit *edit, struct nest_stmt *loop, int64_t factor,
                     struct nest_stmt **rest, const char **refusal)
{
    if (rest)
        *rest = NULL;
    if (!nest_counts_upward(edit, loop, refusal))
        return false;
    const int64_t trips = nest_trip_count(edit, loop);
    const struct nest_expr *end = nest_end(edit, loop);
    const struct nest_expr *width = nest_number(edit, factor * loop->step);
    if (trips >= 0 && trips % factor == 0)
        return true;
    const struct nest_expr *whole = nest_index(
        edit, "*", nest_index(edit, "/", nest_index(edit, "-", end, loop->from), width), width);
    const struct nest_expr *middle = nest_index(edit, "+", loop->from, whole);
    struct nest_stmt *alone = arena_memdup(edit->arena, loop, sizeof *loop);
    alone->next = NULL;
    struct nest_stmt *copy = nest_copy_list(edit, alone);
    struct nest_stmt **link = nest_link(edit->nest, loop);
    copy->next = loop->next;
    loop->next = copy;
    if (trips < 0) {
        struct nest_stmt *declared = nest_new_variable(
            edit, arena_printf(edit->arena, "%s_end", loop->name),
            arena_printf(edit->arena, "const %s", loop->symbol->type), middle, loop->line);
        declared->next = loop;
        *link = declared;
        middle = nest_name(edit, declared->symbol);
    } else {
        int64_t from = 0;
        (void)nest_is_number(loop->from, &from);
        middle = nest_number(edit, from + trips / factor * factor * loop->step);
    }
    loop->bound = middle;
    loop->op = "<";
    copy->from = middle;
    if (rest)
        *rest = copy;
    return true;
}

void nest_swap_heads(struct nest_stmt *a, struct nest_stmt *b)
{
    const struct nest_stmt first = *a;
    const struct nest_stmt second = *b;
    struct nest_stmt *const body_of_a = a->body;
    struct nest_stmt *const body_of_b = b->body;
    *a = second;
    *b = first;
    a->body = body_of_a;
    a->next = first.next;
    b->body = body_of_b;
    b->next = second.next;
}

static bool is_fixed(const struct nest *nest, const struct nest_expr *expr)
{
    if (expr->kind == NEST_ACCESS || expr->kind == NEST_CALL ||
        (expr->kind == NEST_NAME && expr->symbol->kind == NEST_SCALAR &&
         nest_list_assigns(nest->body, expr->symbol)))
        return false;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!is_fixed(nest, expr->args[i]))
            return false;
    }
    return true;
}

bool nest_has_fixed_bounds(const struct nest *nest, const struct nest_stmt *loop)
{
    return is_fixed(nest, loop->from) && is_fixed(nest, loop->bound);
}

bool nest_step_band(const struct nest_edit *edit, const struct nest_step *step,
                    struct nest_stmt *out[NEST_STEP_MAX_ARGS], const char **refusal)
{
    for (size_t i = 0; i < step->arg_count; i++) {
        out[i] = nest_step_loop(edit, step, i, refusal);
        if (!out[i])
            return false;
        if (i > 0 && nest_only_loop(out[i - 1]) != out[i])
            return nest_refuse(edit, refusal,
                               "loop '%s' is not all there is in the body of loop '%s'",
                               out[i]->name, out[i - 1]->name);
        if (!nest_has_fixed_bounds(edit->nest, out[i]))
            return nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                               out[i]->name);
    }
    return true;
}

const char *nest_plain_type(const struct nest_edit *edit, const char *type)
{
    if (strncmp(type, "const ", 6) == 0)
        return arena_strdup(edit->arena, type + 6);
    return type;
}

void nest_suggest(struct nest_suggestions *list, const char *format, ...)
{
    va_list args;
    if (list->count == list->capacity)
        return;
    va_start(args, format);
    list->out[list->count++] = arena_vprintf(list->arena, format, args);
    va_end(args);
}

size_t nest_suggest_each(const struct nest *nest, const struct nest_target *target,
                         bool (*visit)(void *context, struct nest_stmt *stmt, int depth),
                         struct arena *arena, const char **out, size_t capacity)
{
    struct nest_suggestions list = {
        .nest = nest, .target = target, .arena = arena, .out = out, .capacity = capacity};
    (void)nest_walk(nest->body, visit, &list);
    return list.count;
}

struct innermost {
    const char *format;
    struct arena *arena;
    const char **out;
    size_t count, capacity;
};

static bool add_innermost(void *context, struct nest_stmt *stmt, int depth)
{
    struct innermost *list = context;
    (void)depth;
    if (stmt->kind != NEST_FOR || !nest_is_innermost(stmt) || list->count == list->capacity)
        return true;
    const char *hole = strstr(list->format, "%s");
    list->out[list->count++] = arena_printf(list->arena, "%.*s%s%s", (int)(hole - list->format),
                                            list->format, stmt->name, hole + 2);
    return true;
}

size_t nest_suggest_innermost(const struct nest *nest, const char *format, struct arena *arena,
                              const char **out, size_t capacity)
{
    struct innermost list = {.format = format, .arena = arena, .out = out, .capacity = capacity};
    (void)nest_walk(nest->body, add_innermost, &list);
    return list.count;
}

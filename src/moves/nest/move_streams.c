/* streams(i:4): a loop as four, which run side by side in one: the first rounds of each quarter,
 * then the second ones, and the rest behind them. Memory is asked in four places at a time, where
 * one stream leaves it waiting. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/str.h"

#include <string.h>

/* Streams begin whole cache lines of 32-bit elements apart, so that vectors lie alike in all. */
enum { MOST_STREAMS = 16, ALIKE = 16, MOST_PARTS = 1000 };

static bool count_expr(void *context, const struct nest_expr *expr, bool is_target)
{
    size_t *counted = context;
    (void)expr;
    (void)is_target;
    return ++*counted <= MOST_PARTS;
}

/* Statements and what stands in them. */
static bool count(void *context, struct nest_stmt *stmt, int depth)
{
    size_t *counted = context;
    (void)depth;
    return ++*counted <= MOST_PARTS && nest_walk_exprs(stmt, count_expr, counted);
}

static bool may_be_split(struct nest_edit *edit, const struct nest_stmt *loop, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    if (!nest_counts_by_one(edit, loop, refusal))
        return false;
    if (!nest_has_fixed_bounds(edit->nest, loop))
        return nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                           loop->name);
    if (nest_list_has(loop->body, NEST_OPAQUE))
        return nest_refuse(edit, refusal, "loop '%s' holds a statement that is not understood",
                           loop->name);
    if (!depend_open(edit, loop, 1, &depend, refusal))
        return false;
    if (!depend_is_parallel(depend, loop, &(struct depend_opts){.relax_reductions = true}, &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    return depend_may_relax(edit, &answer, refusal);
}

/* How many rounds a stream has, as a variable in front of the loop. */
static const struct nest_expr *declare_rounds(struct nest_edit *edit, struct nest_stmt *loop,
                                              int64_t streams)
{
    const struct nest_expr *all = nest_index(edit, "-", nest_end(edit, loop), loop->from);
    const struct nest_expr *lines = nest_index(edit, "/", all, nest_number(edit, streams * ALIKE));
    struct nest_stmt **link = nest_link(edit->nest, loop);
    struct nest_stmt *declared =
        nest_new_variable(edit, arena_printf(edit->arena, "%s_part", loop->name),
                          arena_printf(edit->arena, "const %s", loop->symbol->type),
                          nest_index(edit, "*", lines, nest_number(edit, ALIKE)), loop->line);
    declared->next = loop;
    *link = declared;
    return nest_name(edit, declared->symbol);
}

/* The counter of a round of stream `k`. */
static const struct nest_expr *counter_of(const struct nest_edit *edit,
                                          const struct nest_stmt *loop,
                                          const struct nest_expr *part, int64_t k)
{
    return nest_index(edit, "+", nest_name(edit, loop->symbol),
                      nest_index(edit, "*", part, nest_number(edit, k)));
}

/* "s += x[i]" alone: what all streams add, in pairs, so that it stays one sum. */
static const struct nest_expr *add_up(const struct nest_edit *edit, const struct nest_stmt *loop,
                                      const struct nest_expr *part, int64_t first, int64_t count)
{
    if (count == 1)
        return nest_replace(edit, loop->body->value, loop->symbol,
                            counter_of(edit, loop, part, first));
    const int64_t half = count / 2;
    return nest_binary(edit, "+", add_up(edit, loop, part, first, count - half),
                       add_up(edit, loop, part, first + count - half, half));
}

static bool is_real_type(const struct nest_edit *edit, const char *type)
{
    return str_equal(nest_plain_type(edit, type), "real");
}

/* A value of type real all through, with no number of another type in it. */
static bool is_real(const struct nest_edit *edit, const struct nest_expr *expr)
{
    switch (expr->kind) {
    case NEST_NAME:
    case NEST_ACCESS:
        return is_real_type(edit, expr->symbol->type);
    case NEST_UNARY:
        return str_equal(expr->text, "-") && is_real(edit, expr->args[0]);
    case NEST_BINARY:
        return strchr("+-*/", expr->text[0]) && is_real(edit, expr->args[0]) &&
               is_real(edit, expr->args[1]);
    case NEST_NUMBER:
    case NEST_CONDITIONAL:
    case NEST_CALL:
    case NEST_CAST:
        return false;
    }
    return false;
}

/* "s += x[i]" and nothing else, where adding two of these first is as adding each: all is of one
 * type that holds sums. */
static bool is_one_sum(const struct nest_edit *edit, const struct nest_stmt *body)
{
    const enum dtype dtype = edit->nest->task->dtype;
    return (dtype == DTYPE_F32 || dtype == DTYPE_F64) && body && body->kind == NEST_ASSIGN &&
           !body->next && str_equal(body->op, "+=") && body->target->kind == NEST_NAME &&
           is_real_type(edit, body->target->symbol->type) && is_real(edit, body->value);
}

static void put_side_by_side(struct nest_edit *edit, struct nest_stmt *loop,
                             const struct nest_expr *part, int64_t streams)
{
    struct nest_stmt *more = NULL;
    if (is_one_sum(edit, loop->body)) {
        loop->body->value = add_up(edit, loop, part, 0, streams);
        return;
    }
    for (int64_t i = 1; i < streams; i++) {
        struct nest_stmt *copy = nest_copy_list(edit, loop->body);
        nest_replace_in(edit, copy, loop->symbol, counter_of(edit, loop, part, i));
        more = nest_append(more, copy);
    }
    loop->body = nest_append(loop->body, more);
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    int64_t streams = 0;
    size_t size = 0;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || !nest_step_number(edit, step, 0, 2, &streams, refusal) ||
        !may_be_split(edit, loop, refusal))
        return false;
    if (streams > MOST_STREAMS)
        return nest_refuse(edit, refusal, "more than %d streams", MOST_STREAMS);
    (void)nest_walk(loop->body, count, &size);
    if ((int64_t)size * streams > MOST_PARTS)
        return nest_refuse(edit, refusal, "the body would have more than %d parts", MOST_PARTS);
    const struct nest_expr *part = declare_rounds(edit, loop, streams);
    struct nest_stmt *alone = arena_memdup(edit->arena, loop, sizeof *loop);
    alone->next = NULL;
    struct nest_stmt *rest = nest_copy_list(edit, alone);
    rest->from =
        nest_index(edit, "+", loop->from, nest_index(edit, "*", part, nest_number(edit, streams)));
    rest->next = loop->next;
    loop->next = rest;
    loop->bound = nest_index(edit, "+", loop->from, part);
    loop->op = "<";
    put_side_by_side(edit, loop, part, streams);
    return true;
}

/* A loop that another one goes over again reads what lies in a cache. */
static bool suggest_one(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && nest_is_innermost(stmt) && !nest_parent(list->nest, stmt))
        nest_suggest(list, "streams(%s:4)", stmt->name);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, suggest_one, arena, out, capacity);
}

const struct nest_move nest_move_streams = {
    .name = "streams",
    .group = "structure",
    .intent = "runs the parts of a loop side by side, so that memory is read in several places",
    .parameters = "streams(LOOP:STREAMS); STREAMS 2 to 16",
    .precondition = "the loop counts up by 1 and carries no dependence but sums and extrema",
    .effect = "1.1 to 1.5 times where one stream of reads does not fill the bandwidth of memory",
    .breaks = "a sum changes its order, where the task allows it; slower in caches",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};

/* prefetch(j,i:1): in loop j, asks for what it will read one round of i later. */
#include "moves/nest/affine.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/buf.h"
#include "base/str.h"

enum { MOST_LINES = 16, LINE_BYTES = 64 };

struct ahead {
    struct nest_edit *edit;
    const struct nest_stmt *loop, *around;
    int64_t rounds;
    /* What is read in a round, an element for each line. */
    struct {
        const struct nest_symbol *array;
        const struct nest_expr *index;
    } lines[MOST_LINES];
    size_t count;
    bool is_too_many;
    bool is_unguarded; /* the statement at hand */
    bool is_unknown;   /* something is read at a place that is not known so early */
};

/* Less than a line apart, as far as the text of the subscripts shows. */
static bool is_same_line(const struct ahead *a, const struct nest_expr *x,
                         const struct nest_expr *y)
{
    const int64_t most = LINE_BYTES / (int64_t)dtype_bytes(a->edit->nest->task->dtype);
    struct poly first;
    struct poly second;
    int64_t apart = 0;
    return nest_expr_same(x, y) ||
           (poly_of(x, &first) && poly_of(y, &second) && poly_add(&first, &second, -1) &&
            poly_is_constant(&first, &apart) && apart < most && apart > -most);
}

static bool uses_assigned(const struct nest_expr *expr, const struct nest_stmt *body)
{
    if (expr->symbol && nest_list_assigns(body, expr->symbol))
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (uses_assigned(expr->args[i], body))
            return true;
    }
    return false;
}

/* To compute it can go wrong: it reads memory, calls a function or divides. With `counter`, only
 * what does so by it counts. */
static bool can_fail(const struct nest_expr *expr, const struct nest_symbol *counter)
{
    int64_t divisor = 0;
    const bool divides = expr->kind == NEST_BINARY &&
                         (str_equal(expr->text, "/") || str_equal(expr->text, "%")) &&
                         !nest_is_number(expr->args[1], &divisor);
    if ((expr->kind == NEST_ACCESS || expr->kind == NEST_CALL || divides) &&
        (!counter || nest_expr_uses(expr, counter)))
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (can_fail(expr->args[i], counter))
            return true;
    }
    return false;
}

static bool is_no_choice(void *context, const struct nest_expr *expr, bool is_target)
{
    (void)context;
    (void)is_target;
    return expr->kind != NEST_CONDITIONAL && !str_equal(expr->text ? expr->text : "", "&&") &&
           !str_equal(expr->text ? expr->text : "", "||");
}

/* Every round computes all of the statement: no condition guards it. */
static bool is_unguarded(const struct ahead *a, const struct nest_stmt *stmt)
{
    const struct nest_stmt *s = a->loop->body;
    while (s && s != stmt)
        s = s->next;
    return s && nest_walk_exprs(stmt, is_no_choice, NULL);
}

/* Where a later round reads can be computed at the beginning of this one. */
static bool is_known(const struct ahead *a, const struct nest_expr *index)
{
    return !can_fail(index, a->around->symbol) && (a->is_unguarded || !can_fail(index, NULL)) &&
           !uses_assigned(index, a->loop->body);
}

/* "x[...]" or "vreal_at(x, ...)" of an argument, where it moves with the loop around. */
static bool note_read(void *context, const struct nest_expr *expr, bool is_target)
{
    struct ahead *a = context;
    const struct nest_symbol *array = NULL;
    const struct nest_expr *index = NULL;
    if (expr->kind == NEST_ACCESS && expr->arg_count == 1) {
        array = expr->symbol;
        index = expr->args[0];
    } else if (expr->kind == NEST_CALL && str_equal(expr->text, "vreal_at") &&
               expr->args[0]->kind == NEST_NAME) {
        array = expr->args[0]->symbol;
        index = expr->args[1];
    }
    if (!array || is_target || !array->is_parameter || array->is_integer ||
        !nest_expr_uses(index, a->around->symbol))
        return true;
    if (!is_known(a, index)) {
        a->is_unknown = true;
        return true;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->lines[i].array == array && is_same_line(a, a->lines[i].index, index))
            return true;
    }
    if (a->count == MOST_LINES) {
        a->is_too_many = true;
        return false;
    }
    a->lines[a->count].array = array;
    a->lines[a->count++].index = index;
    return true;
}

static bool note_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    struct ahead *a = context;
    (void)depth;
    a->is_unguarded = is_unguarded(a, stmt);
    return nest_walk_exprs(stmt, note_read, context);
}

/* "__builtin_prefetch(&x[(i + 1) * cols + j]);" */
static struct nest_stmt *ask(const struct ahead *a, size_t line)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct nest_expr *later = nest_index(a->edit, "+", nest_name(a->edit, a->around->symbol),
                                               nest_number(a->edit, a->rounds * a->around->step));
    struct nest_stmt *stmt = nest_new_stmt(a->edit, NEST_OPAQUE, a->around->line);
    (void)buf_printf(&text, "__builtin_prefetch(&%s[", a->lines[line].array->name);
    nest_print_expr(nest_replace(a->edit, a->lines[line].index, a->around->symbol, later), &text);
    (void)buf_append_str(&text, "]);");
    stmt->text = arena_strdup(a->edit->arena, buf_text(&text));
    stmt->reason = "a prefetch";
    return stmt;
}

static bool is_behind(const struct nest_stmt *stmt, const struct nest_stmt *other)
{
    while (other && other != stmt)
        other = other->next;
    return other != NULL;
}

/* What a subscript needs may be declared in the loop: then it is asked for behind the last such
 * declaration, which has to stand in the loop's own body and give a value. */
static bool place(struct ahead *a, struct nest_stmt *loop, size_t line, struct nest_stmt **behind,
                  const char **refusal)
{
    const struct nest *nest = a->edit->nest;
    const struct nest_expr *index = a->lines[line].index;
    *behind = NULL;
    for (size_t i = 0; i < nest->symbol_count; i++) {
        const struct nest_symbol *symbol = nest->symbols[i];
        if (!nest_expr_uses(index, symbol) || !nest_list_declares(loop->body, symbol))
            continue;
        struct nest_stmt *s = loop->body;
        while (s && !(s->kind == NEST_DECLARE && s->symbol == symbol))
            s = s->next;
        if (!s || !s->value)
            return nest_refuse(
                a->edit, refusal,
                "where in '%s' loop '%s' reads is known from '%s' only, which has no "
                "value before",
                a->lines[line].array->name, loop->name, symbol->name);
        if (!*behind || is_behind(s, *behind))
            *behind = s;
    }
    return true;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct ahead a = {.edit = edit};
    struct nest_stmt *around[NEST_MAX_DEPTH];
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    a.around = loop ? nest_step_loop(edit, step, 1, refusal) : NULL;
    if (!a.around || !nest_step_number(edit, step, 1, 1, &a.rounds, refusal))
        return false;
    a.loop = loop;
    bool is_around = a.around == loop;
    const size_t depth = nest_loops_around(edit->nest, loop, around);
    for (size_t i = 0; i < depth; i++)
        is_around = is_around || around[i] == a.around;
    if (!is_around || !nest_is_innermost(loop))
        return nest_refuse(edit, refusal, "loop '%s' is not innermost in loop '%s'", loop->name,
                           a.around->name);
    if (!edit->nest->task)
        return nest_refuse(edit, refusal, "the types of the arrays are not known");
    (void)nest_walk(loop->body, note_stmt, &a);
    if (a.is_too_many)
        return nest_refuse(edit, refusal, "loop '%s' reads more than %d lines a round", loop->name,
                           MOST_LINES);
    if (a.count == 0 && a.is_unknown)
        return nest_refuse(edit, refusal,
                           "where loop '%s' reads in a later round of '%s' is not known so early: "
                           "memory, a function or a variable that the loop assigns says it",
                           loop->name, a.around->name);
    if (a.count == 0)
        return nest_refuse(edit, refusal, "nothing that loop '%s' reads moves with loop '%s'",
                           loop->name, a.around->name);
    struct nest_stmt *behind[MOST_LINES];
    for (size_t i = 0; i < a.count; i++) {
        if (!place(&a, loop, i, &behind[i], refusal))
            return false;
    }
    for (size_t i = a.count; i-- > 0;) {
        struct nest_stmt **link = behind[i] ? &behind[i]->next : &loop->body;
        struct nest_stmt *asked = ask(&a, i);
        asked->next = *link;
        *link = asked;
    }
    return true;
}

const struct nest_move nest_move_prefetch = {
    .name = "prefetch",
    .group = "machine",
    .intent = "asks memory for what a loop will read some rounds of a loop around it later",
    .parameters = "prefetch(LOOP,AROUND:ROUNDS); AROUND may be LOOP itself; the last step on LOOP",
    .precondition =
        "the loop is innermost; what it reads moves with AROUND, by what is known at its "
        "beginning or declared in it with a value, and not by what is read from memory",
    .effect = "1.2 to 1.4 times where rows come from memory and are read more than once",
    .breaks = "instructions that gain nothing where the data is in a cache",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

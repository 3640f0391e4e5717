/* What predicates ask of a loop nest, counted in one walk. */
#include "skill/facts.h"

#include "base/buf.h"
#include "base/str.h"
#include "moves/nest.h"

#include <string.h>

struct survey {
    struct skill_facts *facts;
    struct buf calls; /* ",exp,tanh," */
    const struct nest_stmt *loops[NEST_MAX_DEPTH];
    size_t depth;
};

static void count(struct survey *s, enum fact fact)
{
    s->facts->number[fact] += 1.0;
}

static bool mentions(const struct nest_expr *expr, const struct nest_symbol *symbol)
{
    if (expr->symbol == symbol)
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (mentions(expr->args[i], symbol))
            return true;
    }
    return false;
}

/* Does the subscript move by more than one element when `counter` moves by one? */
static bool is_strided(const struct nest_expr *expr, const struct nest_symbol *counter)
{
    if (expr->kind == NEST_BINARY && str_equal(expr->text, "*"))
        return mentions(expr, counter);
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (is_strided(expr->args[i], counter))
            return true;
    }
    return false;
}

static bool has_access(const struct nest_expr *expr)
{
    if (expr->kind == NEST_ACCESS)
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (has_access(expr->args[i]))
            return true;
    }
    return false;
}

static const struct nest_stmt *innermost(const struct survey *s)
{
    return s->depth ? s->loops[s->depth - 1] : NULL;
}

static bool is_innermost(const struct nest_stmt *loop)
{
    for (const struct nest_stmt *stmt = loop->body; stmt; stmt = stmt->next) {
        if (stmt->kind == NEST_FOR || (stmt->body && !is_innermost(stmt)) ||
            (stmt->otherwise && !is_innermost(&(struct nest_stmt){.body = stmt->otherwise})))
            return false;
    }
    return true;
}

static void note_access(struct survey *s, const struct nest_expr *access)
{
    const struct nest_stmt *loop = innermost(s);
    count(s, FACT_ACCESSES);
    for (size_t i = 0; i < access->arg_count; i++) {
        if (has_access(access->args[i])) {
            count(s, FACT_GATHERS);
            return;
        }
    }
    if (!loop || !is_innermost(loop))
        return;
    const size_t last = access->arg_count - 1;
    for (size_t i = 0; i < access->arg_count; i++) {
        if (i < last ? mentions(access->args[i], loop->symbol)
                     : is_strided(access->args[i], loop->symbol)) {
            count(s, FACT_STRIDED);
            return;
        }
    }
}

/* "expf" and "exp" are one function. */
static void note_call(struct survey *s, const char *name)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const size_t length = strlen(name);
    const size_t stem =
        length > 1 && name[length - 1] == 'f' && !str_equal(name, "erf") ? length - 1 : length;
    const char *word = arena_printf(&scratch, ",%.*s,", (int)stem, name);
    count(s, FACT_CALLS);
    if (!strstr(buf_text(&s->calls), word))
        (void)buf_append_str(&s->calls, s->calls.length ? word + 1 : word);
}

static bool note_expr(void *context, const struct nest_expr *expr, bool is_target)
{
    struct survey *s = context;
    (void)is_target;
    if (expr->kind == NEST_ACCESS)
        note_access(s, expr);
    else if (expr->kind == NEST_CALL && s->depth)
        note_call(s, expr->text);
    else if (expr->kind == NEST_BINARY && str_equal(expr->text, "/") && s->depth &&
             is_innermost(innermost(s)))
        count(s, FACT_DIVISIONS);
    return true;
}

static bool is_kept(const struct survey *s, const struct nest_expr *target)
{
    const struct nest_stmt *loop = innermost(s);
    return loop && !mentions(target, loop->symbol);
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++) {
        if (str_equal(text, *words))
            return true;
    }
    return false;
}

static bool has_arg(const struct nest_expr *expr, const struct nest_expr *wanted)
{
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (nest_expr_same(expr->args[i], wanted))
            return true;
    }
    return false;
}

static void note_assign(struct survey *s, const struct nest_stmt *stmt)
{
    static const char *const adding[] = {"+=", "-=", "*=", NULL};
    static const char *const plus[] = {"+", "-", "*", NULL};
    static const char *const extrema[] = {"fmax", "fmaxf", "fmin", "fminf", NULL};
    const struct nest_expr *value = stmt->value;
    if (!is_kept(s, stmt->target))
        return;
    if (is_one_of(stmt->op, adding))
        count(s, FACT_SUMS);
    else if (value->kind == NEST_BINARY && is_one_of(value->text, plus) &&
             has_arg(value, stmt->target))
        count(s, FACT_SUMS);
    else if ((value->kind == NEST_CONDITIONAL ||
              (value->kind == NEST_CALL && is_one_of(value->text, extrema))) &&
             has_arg(value, stmt->target))
        count(s, FACT_EXTREMA);
}

/* `if (x > m) m = x;` */
static void note_if(struct survey *s, const struct nest_stmt *stmt)
{
    const struct nest_stmt *body = stmt->body;
    while (body && body->kind == NEST_BLOCK)
        body = body->body;
    if (body && body->kind == NEST_ASSIGN && is_kept(s, body->target) && stmt->value &&
        stmt->value->kind == NEST_BINARY && has_arg(stmt->value, body->target))
        count(s, FACT_EXTREMA);
}

/* A loop that adds to a scalar and stores that scalar at its counter. */
static bool is_scan(const struct nest_stmt *loop)
{
    const struct nest_stmt *first = loop->body;
    if (first && first->kind == NEST_BLOCK && !first->next)
        first = first->body;
    for (const struct nest_stmt *a = first; a; a = a->next) {
        if (a->kind != NEST_ASSIGN || a->target->kind != NEST_NAME || !str_equal(a->op, "+="))
            continue;
        for (const struct nest_stmt *b = a->next; b; b = b->next) {
            if (b->kind == NEST_ASSIGN && b->target->kind == NEST_ACCESS &&
                mentions(b->target, loop->symbol) && mentions(b->value, a->target->symbol))
                return true;
        }
    }
    return false;
}

static void survey_body(struct survey *s, const struct nest_stmt *first);

static void survey_loop(struct survey *s, const struct nest_stmt *loop)
{
    count(s, FACT_LOOPS);
    if (s->depth == NEST_MAX_DEPTH)
        return;
    s->loops[s->depth++] = loop;
    if ((double)s->depth > s->facts->number[FACT_DEPTH])
        s->facts->number[FACT_DEPTH] = (double)s->depth;
    if (is_innermost(loop))
        count(s, FACT_NESTS);
    if (is_scan(loop))
        count(s, FACT_SCANS);
    survey_body(s, loop->body);
    s->depth--;
}

static void survey_body(struct survey *s, const struct nest_stmt *first)
{
    for (const struct nest_stmt *stmt = first; stmt; stmt = stmt->next) {
        (void)nest_walk_exprs(stmt, note_expr, s);
        if (stmt->kind == NEST_FOR) {
            survey_loop(s, stmt);
            continue;
        }
        if (stmt->kind == NEST_ASSIGN)
            note_assign(s, stmt);
        if (stmt->kind == NEST_IF)
            note_if(s, stmt);
        survey_body(s, stmt->body);
        survey_body(s, stmt->otherwise);
    }
}

static void survey_nest(const struct nest *nest, struct arena *arena, struct skill_facts *out)
{
    struct survey s = {.facts = out};
    out->number[FACT_UNDERSTOOD] = 1.0;
    out->number[FACT_STATEMENTS] = (double)nest->statement_count;
    out->number[FACT_OPAQUE] = (double)nest->opaque_count;
    survey_body(&s, nest->body);
    out->word[FACT_CALL] = arena_strdup(arena, buf_text(&s.calls));
    buf_free(&s.calls);
}

void skill_facts_of_task(const struct task *task, struct arena *arena, struct skill_facts *out)
{
    struct nest *nest = NULL;
    const char *why = NULL;
    const struct task_case *largest = &task->cases[0];
    for (size_t i = 1; i < task->case_count; i++) {
        if (task_bytes(task, &task->cases[i]) > task_bytes(task, largest))
            largest = &task->cases[i];
    }
    out->word[FACT_FAMILY] = task->family;
    out->word[FACT_DTYPE] = dtype_name(task->dtype);
    out->word[FACT_PRECISION] = precision_class_name(task->precision);
    out->word[FACT_REGIME] = task_case_regime(task, largest);
    out->word[FACT_CALL] = "";
    out->number[FACT_FLOAT] = dtype_is_float(task->dtype);
    out->number[FACT_REASSOCIATE] = task->allow_reassociate;
    out->number[FACT_APPROXIMATE] =
        task->precision == PRECISION_NORMAL || task->precision == PRECISION_RELAXED;
    out->number[FACT_FINITE] = task->finite_only;
    out->number[FACT_THREADS] = (double)task->threads;
    for (size_t i = 0; i < task->arg_count; i++) {
        out->number[FACT_INPUTS] += task->args[i].role != ARG_OUT;
        out->number[FACT_OUTPUTS] += task->args[i].role != ARG_IN;
    }
    if (nest_read(task, task->reference, arena, &nest, &why))
        survey_nest(nest, arena, out);
}

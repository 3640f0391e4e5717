/*
 * Parser of the expressions in task.yaml: recursive descent, left-associative.
 *
 *   sum    := term (('+' | '-') term)*
 *   term   := factor (('*' | '/' | '%') factor)*
 *   factor := '-' factor | '(' sum ')' | integer | name | call
 *   call   := ('min' | 'max' | 'ceildiv') '(' sum ',' sum ')'
 */
#include "base/str.h"
#include "task/internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct parser {
    const struct task_reader *reader;
    const struct yaml *at;
    const char *text;
    size_t position;
    int depth;
    bool real_allowed;
};

static const struct {
    const char *name;
    enum expr_op op;
} functions[] = {{"min", EXPR_MIN}, {"max", EXPR_MAX}, {"ceildiv", EXPR_CEILDIV}};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static bool fail(const struct parser *p, size_t position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An error at `position` of the text; always false. */
static bool fail(const struct parser *p, size_t position, const char *format, ...)
{
    char what[256];
    struct yaml place = *p->at;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    place.column += (int)position + (place.quoted ? 1 : 0);
    return yaml_error(&place, p->reader->err, "in '%.200s': %s", p->text, what);
}

static char peek(struct parser *p)
{
    while (p->text[p->position] == ' ' || p->text[p->position] == '\t' ||
           p->text[p->position] == '\n')
        p->position++;
    return p->text[p->position];
}

static bool unexpected(struct parser *p, const char *wanted)
{
    const char c = peek(p);
    if (c == '\0') {
        (void)fail(p, p->position, "it ends where %s should be", wanted);
        return err_hint(p->reader->err, "in a list [ ] an expression with a comma needs quotes: "
                                        "[\"max(m, n)\"]");
    }
    if (isprint((unsigned char)c))
        (void)fail(p, p->position, "'%c' where %s should be", c, wanted);
    else
        (void)fail(p, p->position, "a character that is not allowed");
    return err_hint(p->reader->err,
                    "allowed: integers, names, + - * / %% ( ), min(a, b), max(a, b), "
                    "ceildiv(a, b)");
}

static const struct task_expr *make(struct parser *p, struct task_expr node)
{
    return arena_memdup(p->reader->arena, &node, sizeof node);
}

static const struct task_expr *parse_sum(struct parser *p);
static const struct task_expr *parse_factor(struct parser *p);

static const struct task_expr *parse_number(struct parser *p)
{
    const size_t start = p->position;
    char digits[32];
    size_t length = 0;
    while (isdigit((unsigned char)p->text[p->position])) {
        if (length < sizeof digits - 1)
            digits[length++] = p->text[p->position];
        p->position++;
    }
    digits[length] = '\0';
    int64_t value = 0;
    if (!str_parse_int64(digits, &value)) {
        (void)fail(p, start, "a number that does not fit in 64 bits");
        return NULL;
    }
    const char next = p->text[p->position];
    if (next == '.' || next == '_' || isalpha((unsigned char)next)) {
        (void)fail(p, start, "a number that is no integer");
        (void)err_hint(p->reader->err, "only integers; write 5 * n / 2 for 2.5 * n");
        return NULL;
    }
    return make(p, (struct task_expr){.op = EXPR_NUMBER, .number = value});
}

static const struct task_expr *parse_call(struct parser *p, enum expr_op op)
{
    p->position++; /* ( */
    const struct task_expr *left = parse_sum(p);
    if (!left)
        return NULL;
    if (peek(p) != ',') {
        (void)unexpected(p, "','");
        return NULL;
    }
    p->position++;
    const struct task_expr *right = parse_sum(p);
    if (!right)
        return NULL;
    if (peek(p) != ')') {
        (void)unexpected(p, "')'");
        return NULL;
    }
    p->position++;
    return make(p, (struct task_expr){.op = op, .left = left, .right = right});
}

/* The nearest name; all of them where it is too short to tell. */
static void hint_names(struct err *err, const char *name, const char *const *known, size_t count)
{
    const char *nearest = strlen(name) > 1 ? str_nearest(name, known, count) : NULL;
    if (nearest) {
        (void)err_hint(err, "did you mean '%s'?", nearest);
        return;
    }
    CLEANUP(buf_free) struct buf list = {0};
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&list, "%s%s", i ? ", " : "", known[i]);
    (void)err_hint(err, "declare it under axes or attrs; there are: %s", buf_text(&list));
}

/* The leaf of a name, or NULL and the nearest name as the hint. */
static const struct task_expr *resolve(struct parser *p, size_t start, const char *name)
{
    const struct task *task = p->reader->task;
    const char *known[TASK_MAX_AXES + TASK_MAX_ATTRS + FUNCTION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < task->axis_count; i++) {
        if (str_equal(task->axes[i].name, name))
            return make(p, (struct task_expr){.op = EXPR_AXIS, .axis = i});
        known[count++] = task->axes[i].name;
    }
    for (size_t i = 0; i < task->attr_count; i++) {
        const struct task_attr *attr = &task->attrs[i];
        known[count++] = attr->name;
        if (!str_equal(attr->name, name))
            continue;
        if (attr->is_integer)
            return make(p, (struct task_expr){.op = EXPR_NUMBER, .number = attr->integer});
        if (p->real_allowed)
            return make(p, (struct task_expr){.op = EXPR_REAL, .real = attr->real});
        (void)fail(p, start, "the real attribute '%s'", name);
        (void)err_hint(p->reader->err, "a shape is made of integers: use axes and attributes of "
                                       "type int");
        return NULL;
    }
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        known[count++] = functions[i].name;
    (void)fail(p, start, "unknown name '%.64s'", name);
    hint_names(p->reader->err, name, known, count);
    return NULL;
}

static const struct task_expr *parse_name(struct parser *p)
{
    const size_t start = p->position;
    while (isalnum((unsigned char)p->text[p->position]) || p->text[p->position] == '_')
        p->position++;
    const char *name = arena_strndup(p->reader->arena, p->text + start, p->position - start);
    if (peek(p) != '(')
        return resolve(p, start, name);
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (str_equal(functions[i].name, name))
            return parse_call(p, functions[i].op);
    }
    (void)fail(p, start, "unknown function '%.64s'", name);
    (void)err_hint(p->reader->err, "there are min(a, b), max(a, b) and ceildiv(a, b)");
    return NULL;
}

static const struct task_expr *parse_factor_inner(struct parser *p)
{
    const char c = peek(p);
    if (isdigit((unsigned char)c))
        return parse_number(p);
    if (isalpha((unsigned char)c) || c == '_')
        return parse_name(p);
    if (c == '-') {
        p->position++;
        const struct task_expr *inner = parse_factor(p);
        if (!inner)
            return NULL;
        const struct task_expr *zero = make(p, (struct task_expr){.op = EXPR_NUMBER});
        return make(p, (struct task_expr){.op = EXPR_SUBTRACT, .left = zero, .right = inner});
    }
    if (c == '(') {
        p->position++;
        const struct task_expr *inner = parse_sum(p);
        if (!inner)
            return NULL;
        if (peek(p) != ')') {
            (void)unexpected(p, "')'");
            return NULL;
        }
        p->position++;
        return inner;
    }
    (void)unexpected(p, "a number or a name");
    return NULL;
}

static const struct task_expr *parse_factor(struct parser *p)
{
    if (p->depth == TASK_MAX_EXPR_DEPTH) {
        (void)fail(p, p->position, "more than %d levels of nesting", TASK_MAX_EXPR_DEPTH);
        return NULL;
    }
    p->depth++;
    const struct task_expr *out = parse_factor_inner(p);
    p->depth--;
    return out;
}

static const struct task_expr *parse_term(struct parser *p)
{
    const struct task_expr *left = parse_factor(p);
    while (left) {
        const char c = peek(p);
        if (c != '*' && c != '/' && c != '%')
            break;
        p->position++;
        const struct task_expr *right = parse_factor(p);
        if (!right)
            return NULL;
        const enum expr_op op = c == '*' ? EXPR_MULTIPLY : c == '/' ? EXPR_DIVIDE : EXPR_REMAINDER;
        left = make(p, (struct task_expr){.op = op, .left = left, .right = right});
    }
    return left;
}

static const struct task_expr *parse_sum(struct parser *p)
{
    const struct task_expr *left = parse_term(p);
    while (left) {
        const char c = peek(p);
        if (c != '+' && c != '-')
            break;
        p->position++;
        const struct task_expr *right = parse_term(p);
        if (!right)
            return NULL;
        const enum expr_op op = c == '+' ? EXPR_ADD : EXPR_SUBTRACT;
        left = make(p, (struct task_expr){.op = op, .left = left, .right = right});
    }
    return left;
}

bool expr_parse(const struct task_reader *reader, const struct yaml *at, bool real_allowed,
                const struct task_expr **out)
{
    if (at->type != YAML_SCALAR)
        return yaml_error(at, reader->err, "an expression must be one value, such as m * n");
    if (strlen(at->text) > TASK_MAX_EXPR_BYTES)
        return yaml_error(at, reader->err, "an expression of more than %d bytes",
                          TASK_MAX_EXPR_BYTES);
    struct parser p = {.reader = reader, .at = at, .text = at->text, .real_allowed = real_allowed};
    const struct task_expr *expr = parse_sum(&p);
    if (!expr)
        return false;
    if (peek(&p) != '\0')
        return unexpected(&p, "an operator");
    *out = expr;
    return true;
}

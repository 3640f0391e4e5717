/* A nest as C. Parentheses stand where C needs them, and where a reader would want them. */
#include "moves/nest.h"

#include "base/str.h"

enum { LEVEL_CONDITIONAL = 0, LEVEL_UNARY = 11, LEVEL_POSTFIX = 12 };

static int level_of(const struct nest_expr *expr)
{
    if (expr->kind == NEST_CONDITIONAL)
        return LEVEL_CONDITIONAL;
    if (expr->kind == NEST_UNARY || expr->kind == NEST_CAST)
        return LEVEL_UNARY;
    if (expr->kind != NEST_BINARY)
        return LEVEL_POSTFIX;
    for (const struct nest_operator *o = nest_operators; o->text; o++) {
        if (str_equal(o->text, expr->text))
            return o->level;
    }
    BUG("nest: operator '%s'", expr->text);
}

static void print_at(const struct nest_expr *expr, int lowest, struct buf *out);

static void print_list(const struct nest_expr *expr, const char *open, const char *between,
                       const char *close, struct buf *out)
{
    (void)buf_append_str(out, open);
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (i > 0)
            (void)buf_append_str(out, between);
        print_at(expr->args[i], LEVEL_CONDITIONAL, out);
    }
    (void)buf_append_str(out, close);
}

static void print_bare(const struct nest_expr *expr, struct buf *out)
{
    const int level = level_of(expr);
    switch (expr->kind) {
    case NEST_NUMBER:
        (void)buf_append_str(out, expr->text);
        return;
    case NEST_NAME:
        (void)buf_append_str(out, expr->symbol->name);
        return;
    case NEST_ACCESS:
        (void)buf_append_str(out, expr->symbol->name);
        print_list(expr, "[", "][", "]", out);
        return;
    case NEST_CALL:
        (void)buf_append_str(out, expr->text);
        print_list(expr, "(", ", ", ")", out);
        return;
    case NEST_CAST:
        (void)buf_printf(out, "(%s)", expr->text);
        print_at(expr->args[0], LEVEL_UNARY, out);
        return;
    case NEST_UNARY:
        (void)buf_append_str(out, expr->text);
        /* "- -x" is no "--x" */
        print_at(expr->args[0], expr->args[0]->kind == NEST_UNARY ? LEVEL_POSTFIX : LEVEL_UNARY,
                 out);
        return;
    case NEST_BINARY:
        print_at(expr->args[0], level, out);
        (void)buf_printf(out, " %s ", expr->text);
        print_at(expr->args[1], level + 1, out);
        return;
    case NEST_CONDITIONAL:
        print_at(expr->args[0], 1, out);
        (void)buf_append_str(out, " ? ");
        print_at(expr->args[1], LEVEL_CONDITIONAL, out);
        (void)buf_append_str(out, " : ");
        print_at(expr->args[2], LEVEL_CONDITIONAL, out);
        return;
    }
}

static void print_at(const struct nest_expr *expr, int lowest, struct buf *out)
{
    const bool needs = level_of(expr) < lowest;
    if (needs)
        (void)buf_append_char(out, '(');
    print_bare(expr, out);
    if (needs)
        (void)buf_append_char(out, ')');
}

void nest_print_expr(const struct nest_expr *expr, struct buf *out)
{
    print_at(expr, LEVEL_CONDITIONAL, out);
}

static void print_list_of(const struct nest_stmt *first, int depth, struct buf *out);

static void indent(int depth, struct buf *out)
{
    for (int i = 0; i < depth; i++)
        (void)buf_append_str(out, "    ");
}

/* The body of a loop or branch, always in braces: a move may add to it. */
static void print_body(const struct nest_stmt *body, int depth, struct buf *out)
{
    const bool is_block = body && body->kind == NEST_BLOCK && !body->next;
    (void)buf_append_str(out, " {\n");
    print_list_of(is_block ? body->body : body, depth + 1, out);
    indent(depth, out);
    (void)buf_append_char(out, '}');
}

static void print_for(const struct nest_stmt *s, int depth, struct buf *out)
{
    const char *name = s->symbol->name;
    if (s->pragma) {
        (void)buf_printf(out, "%s\n", s->pragma);
        indent(depth, out);
    }
    (void)buf_printf(out, "for (%s %s = ", s->symbol->type, name);
    nest_print_expr(s->from, out);
    (void)buf_printf(out, "; %s %s ", name, s->op);
    print_at(s->bound, 8, out);
    if (s->step == 1 || s->step == -1)
        (void)buf_printf(out, "; %s%s)", name, s->step == 1 ? "++" : "--");
    else
        (void)buf_printf(out, "; %s %s %lld)", name,
                         s->step > 0 ? "+=" : "-=", (long long)(s->step > 0 ? s->step : -s->step));
    print_body(s->body, depth, out);
    (void)buf_append_char(out, '\n');
}

static void print_if(const struct nest_stmt *s, int depth, struct buf *out)
{
    (void)buf_append_str(out, "if (");
    nest_print_expr(s->value, out);
    (void)buf_append_char(out, ')');
    print_body(s->body, depth, out);
    if (s->otherwise) {
        (void)buf_append_str(out, " else");
        print_body(s->otherwise, depth, out);
    }
    (void)buf_append_char(out, '\n');
}

static void print_declaration(const struct nest_stmt *s, struct buf *out)
{
    const struct nest_symbol *symbol = s->symbol;
    (void)buf_printf(out, "%s %s%s", symbol->type, symbol->kind == NEST_POINTER ? "*" : "",
                     symbol->name);
    for (size_t i = 0; i < symbol->rank; i++) {
        (void)buf_append_char(out, '[');
        nest_print_expr(symbol->dimensions[i], out);
        (void)buf_append_char(out, ']');
    }
    if (s->value) {
        (void)buf_printf(out, " = %s", s->op ? s->op : "");
        nest_print_expr(s->value, out);
    }
    (void)buf_append_str(out, ";\n");
}

static void print_stmt(const struct nest_stmt *s, int depth, struct buf *out)
{
    const bool is_directive =
        (s->kind == NEST_OPAQUE && s->text[0] == '#') || (s->kind == NEST_FOR && s->pragma);
    if (!is_directive)
        indent(depth, out);
    switch (s->kind) {
    case NEST_FOR:
        print_for(s, depth, out);
        return;
    case NEST_IF:
        print_if(s, depth, out);
        return;
    case NEST_DECLARE:
        print_declaration(s, out);
        return;
    case NEST_ASSIGN:
        nest_print_expr(s->target, out);
        (void)buf_printf(out, " %s ", s->op);
        nest_print_expr(s->value, out);
        (void)buf_append_str(out, ";\n");
        return;
    case NEST_BLOCK:
        (void)buf_append_str(out, "{\n");
        print_list_of(s->body, depth + 1, out);
        indent(depth, out);
        (void)buf_append_str(out, "}\n");
        return;
    case NEST_OPAQUE:
        (void)buf_printf(out, "%s\n", s->text);
        return;
    }
}

static void print_list_of(const struct nest_stmt *first, int depth, struct buf *out)
{
    for (const struct nest_stmt *s = first; s; s = s->next)
        print_stmt(s, depth, out);
}

void nest_print(const struct nest *nest, struct buf *out)
{
    (void)buf_append_str(out, nest->prologue);
    (void)buf_printf(out, "%s\n{\n", nest->signature);
    print_list_of(nest->body, 1, out);
    (void)buf_printf(out, "}%s", nest->epilogue);
}

/* What was understood, for people. */
#include "moves/nest/affine.h"

#include "base/str.h"

#include <string.h>

struct explanation {
    const struct nest *nest;
    struct buf *out;
    struct arena *arena;
};

static void pad(const struct explanation *e, int line, int depth)
{
    (void)buf_printf(e->out, "%5d  ", line);
    for (int i = 0; i < depth; i++)
        (void)buf_append_str(e->out, "  ");
}

static bool print_access(void *context, const struct nest_expr *expr, bool is_target)
{
    struct explanation *e = context;
    struct poly subscripts[NEST_MAX_DIMENSIONS];
    size_t rank = 0;
    const struct nest_symbol *array = NULL;
    const char *why = NULL;
    if (expr->kind != NEST_ACCESS)
        return true;
    (void)buf_printf(e->out, " %s ", is_target ? "writes" : "reads");
    if (!nest_delinearize(e->nest, expr, subscripts, &rank, &array, &why)) {
        nest_print_expr(expr, e->out);
        (void)buf_printf(e->out, " (%s);", why);
        return true;
    }
    (void)buf_append_str(e->out, array->name);
    for (size_t i = 0; i < rank; i++) {
        (void)buf_append_char(e->out, '[');
        poly_print(&subscripts[i], e->out);
        (void)buf_append_char(e->out, ']');
    }
    (void)buf_append_char(e->out, ';');
    return true;
}

/* The first line of a text. */
static char *first_line(const char *text, struct arena *arena)
{
    const size_t length = strcspn(text, "\n");
    const bool is_cut = length > 60 || text[length] != '\0';
    return arena_printf(arena, "%.*s%s", length > 60 ? 60 : (int)length, text,
                        is_cut ? " ..." : "");
}

static void explain_loop(const struct explanation *e, const struct nest_stmt *stmt)
{
    (void)buf_printf(e->out, "loop %s from ", stmt->name);
    nest_print_expr(stmt->from, e->out);
    (void)buf_printf(e->out, " while %s ", stmt->op);
    nest_print_expr(stmt->bound, e->out);
    if (stmt->step != 1)
        (void)buf_printf(e->out, " by %lld", (long long)stmt->step);
}

static bool explain_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    struct explanation *e = context;
    if (stmt->kind == NEST_BLOCK)
        return true;
    pad(e, stmt->line, depth);
    switch (stmt->kind) {
    case NEST_FOR:
        explain_loop(e, stmt);
        break;
    case NEST_IF:
        (void)buf_append_str(e->out, "if ");
        nest_print_expr(stmt->value, e->out);
        (void)buf_append_char(e->out, ':');
        break;
    case NEST_DECLARE:
        (void)buf_printf(e->out, "%s %s:", stmt->symbol->type, stmt->symbol->name);
        break;
    case NEST_ASSIGN:
        (void)buf_printf(e->out,
                         "%s %s ...:", stmt->target->symbol ? stmt->target->symbol->name : "?",
                         stmt->op);
        break;
    case NEST_OPAQUE:
        (void)buf_printf(e->out, "not understood: %s\n       ", first_line(stmt->text, e->arena));
        for (int i = 0; i < depth; i++)
            (void)buf_append_str(e->out, "  ");
        (void)buf_printf(e->out, "  because %s", stmt->reason);
        break;
    case NEST_BLOCK:
        break;
    }
    (void)nest_walk_exprs(stmt, print_access, e);
    (void)buf_append_char(e->out, '\n');
    return true;
}

void nest_explain(const struct nest *nest, struct arena *arena, struct buf *out)
{
    struct explanation e = {.nest = nest, .out = out, .arena = arena};
    (void)buf_printf(out, "%zu statements, %zu loop%s", nest->statement_count, nest->loop_count,
                     nest->loop_count == 1 ? "" : "s");
    if (nest->opaque_count > 0)
        (void)buf_printf(out,
                         ", %zu not understood: they keep their text, and moves leave the "
                         "loops around them alone",
                         nest->opaque_count);
    if (nest->loop_count > NEST_MAX_GROWN_LOOPS)
        (void)buf_printf(out,
                         "; of more than %d loops: single moves only, no whole sequences are grown",
                         NEST_MAX_GROWN_LOOPS);
    (void)buf_append_str(out, "\n line\n");
    (void)nest_walk(nest->body, explain_stmt, &e);
}

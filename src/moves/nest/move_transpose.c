/* transpose(i,j): squares of y[j][i] = x[i][j] are turned in registers, a vector a row. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"
#include "moves/nest/vector.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

/* The one statement: to[... + i] = from[... + j]. */
struct turning {
    struct nest_edit *edit;
    struct nest_stmt *outer, *inner;
    const struct nest_expr *to, *from;
};

static bool find_statement(struct turning *t, const char **refusal)
{
    int64_t stride = 0;
    const struct nest_stmt *s = t->inner->body;
    if (nest_only_loop(t->outer) != t->inner || !s || s->next || s->kind != NEST_ASSIGN ||
        !str_equal(s->op, "=") || s->target->kind != NEST_ACCESS || s->value->kind != NEST_ACCESS ||
        s->target->arg_count != 1 || s->value->arg_count != 1 ||
        s->target->symbol == s->value->symbol ||
        !vector_is_lane(t->edit, s->target->symbol->type) ||
        !vector_is_lane(t->edit, s->value->symbol->type))
        return nest_refuse(t->edit, refusal,
                           "loops '%s' and '%s' do not hold one copy from one array into another",
                           t->outer->name, t->inner->name);
    t->to = s->target;
    t->from = s->value;
    if (t->outer->step != 1 || t->inner->step != 1 ||
        !vector_stride(t->edit, t->outer, t->to->args[0], &stride) || stride != 1 ||
        !vector_stride(t->edit, t->inner, t->from->args[0], &stride) || stride != 1)
        return nest_refuse(t->edit, refusal,
                           "'%s' does not write neighbours, or '%s' does not read them",
                           t->outer->name, t->inner->name);
    if (nest_expr_uses(t->inner->from, t->outer->symbol) ||
        nest_expr_uses(t->inner->bound, t->outer->symbol))
        return nest_refuse(t->edit, refusal, "the bounds of loop '%s' depend on loop '%s'",
                           t->inner->name, t->outer->name);
    return true;
}

/* "&y[j * m + i], (j + 1) * m + i - (j * m + i)": where it begins, and how far rows are apart. */
static void print_operand(const struct turning *t, const struct nest_expr *access,
                          const struct nest_stmt *row, struct buf *out)
{
    const struct nest_edit *edit = t->edit;
    const struct nest_expr *index = access->args[0];
    const struct nest_expr *next =
        nest_replace(edit, index, row->symbol,
                     nest_index(edit, "+", nest_name(edit, row->symbol), nest_number(edit, 1)));
    (void)buf_append_char(out, '&');
    nest_print_expr(access, out);
    (void)buf_append_str(out, ", ");
    nest_print_expr(nest_index(edit, "-", next, index), out);
}

/* The rows of a square one by one, for columns that fill no square. */
static struct nest_stmt *rows_of_rest(struct turning *t, struct nest_stmt *rest, int64_t lanes)
{
    struct nest_edit *edit = t->edit;
    const struct nest_expr *begin = nest_name(edit, t->outer->symbol);
    struct nest_stmt *rows = nest_new_loop(edit, t->outer->name, t->outer->symbol->type, begin,
                                           nest_index(edit, "+", begin, nest_number(edit, lanes)),
                                           1, NULL, t->outer->line);
    nest_replace_in(edit, rest, t->outer->symbol, nest_name(edit, rows->symbol));
    rows->body = rest;
    return rows;
}

static bool rewrite(struct turning *t, int64_t lanes, const char **refusal)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct nest_stmt *rest = NULL;
    if (!nest_split_rest(t->edit, t->outer, lanes, NULL, refusal) ||
        !nest_split_rest(t->edit, t->inner, lanes, &rest, refusal))
        return false;
    if (rest) {
        t->inner->next = NULL;
        rest->next = NULL;
        t->inner->next = rows_of_rest(t, rest, lanes);
    }
    (void)buf_append_str(&text, "vreal_transpose(");
    print_operand(t, t->to, t->inner, &text);
    (void)buf_append_str(&text, ", ");
    print_operand(t, t->from, t->outer, &text);
    (void)buf_append_str(&text, ");");
    struct nest_stmt *square = nest_new_stmt(t->edit, NEST_OPAQUE, t->inner->line);
    square->text = arena_strdup(t->edit->arena, buf_text(&text));
    square->reason = "a square of a transposition";
    t->inner->body = square;
    t->outer->step = lanes;
    t->inner->step = lanes;
    return true;
}

/* One of two vectors' lanes in each place: which of stage `width` of the turning, for the lower or
 * the upper row of a pair (Eklundh, "A fast computer method for matrix transposing", 1972). */
static void print_exchange(struct buf *out, int64_t lanes, int64_t width, bool is_upper)
{
    (void)buf_printf(out, "#define VREAL_%s_%lld(a, b) __builtin_shufflevector(a, b",
                     is_upper ? "UPPER" : "LOWER", (long long)width);
    for (int64_t lane = 0; lane < lanes; lane++) {
        const bool is_second = (lane & width) != 0;
        const int64_t from = is_upper ? (is_second ? lanes + lane : lane + width)
                                      : (is_second ? lanes + lane - width : lane);
        (void)buf_printf(out, ", %lld", (long long)from);
    }
    (void)buf_append_str(out, ")\n");
}

static void add_helper(struct nest_edit *edit, int64_t lanes)
{
    CLEANUP(buf_free) struct buf out = {0};
    vector_need(edit, "vreal_at");
    (void)buf_append_str(&out, edit->nest->prologue);
    for (int64_t width = 1; width < lanes; width *= 2) {
        print_exchange(&out, lanes, width, false);
        print_exchange(&out, lanes, width, true);
    }
    (void)buf_append_str(&out, "/* to[c * to_step + r] = from[r * from_step + c], a square of "
                               "VREAL_LANES */\n"
                               "static inline void vreal_transpose(real *to, int64_t to_step, "
                               "const real *from,\n"
                               "                                   int64_t from_step)\n{\n");
    for (int64_t r = 0; r < lanes; r++)
        (void)buf_printf(&out, "    vreal r%lld = vreal_at(from, %lld * from_step), t%lld;\n",
                         (long long)r, (long long)r, (long long)r);
    for (int64_t width = 1; width < lanes; width *= 2) {
        for (int64_t r = 0; r < lanes; r++) {
            if (r & width)
                continue;
            const long long a = r, b = r + width, w = width;
            (void)buf_printf(&out,
                             "    t%lld = VREAL_LOWER_%lld(r%lld, r%lld);\n"
                             "    t%lld = VREAL_UPPER_%lld(r%lld, r%lld);\n",
                             a, w, a, b, b, w, a, b);
        }
        for (int64_t r = 0; r < lanes; r++)
            (void)buf_printf(&out, "    r%lld = t%lld;\n", (long long)r, (long long)r);
    }
    for (int64_t r = 0; r < lanes; r++)
        (void)buf_printf(&out, "    vreal_at(to, %lld * to_step) = r%lld;\n", (long long)r,
                         (long long)r);
    (void)buf_append_str(&out, "}\n\n");
    edit->nest->prologue = arena_strdup(edit->arena, buf_text(&out));
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct turning t = {.edit = edit};
    if (!nest_step_count(edit, step, 2, 2, refusal))
        return false;
    t.outer = nest_step_loop(edit, step, 0, refusal);
    t.inner = t.outer ? nest_step_loop(edit, step, 1, refusal) : NULL;
    const int64_t lanes = t.inner ? vector_lanes(edit, refusal) : 0; /* there is a task, too */
    if (lanes == 0 || !find_statement(&t, refusal) || !vector_independent(edit, t.outer, refusal) ||
        !vector_independent(edit, t.inner, refusal))
        return false;
    if (!strstr(edit->nest->prologue, "vreal_transpose("))
        add_helper(edit, lanes);
    return rewrite(&t, lanes, refusal);
}

const struct nest_move nest_move_transpose = {
    .name = "transpose",
    .group = "data",
    .intent = "turns squares of a transposition in registers",
    .parameters = "transpose(OUTER,INNER)",
    .precondition = "two loops with one copy, which writes neighbours by the outer and reads them "
                    "by the inner one",
    .effect = "whole cache lines are read and written: 5 to 16 times",
    .breaks = "",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

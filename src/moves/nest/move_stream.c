/* stream(j): the vectors that loop j stores go past the caches. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"
#include "moves/nest/vector.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

/* Waits for all stores: those past the caches are ordered by nothing else. */
static const char fence[] = "__atomic_thread_fence(__ATOMIC_SEQ_CST);";

/* clang has a function for any machine; gcc one for each width of x86, of which it says that it is
 * there as soon as one function of the text is for a machine that has it. */
static void add_helper(struct nest_edit *edit)
{
    CLEANUP(buf_free) struct buf out = {0};
    const int64_t bytes = edit->target.vector_bytes;
    const char *width = bytes == 64 ? "512" : bytes == 32 ? "256" : "";
    const char *isa = bytes == 64 ? "__AVX512F__" : bytes == 32 ? "__AVX__" : "__SSE2__";
    const char *type = edit->nest->task->dtype == DTYPE_F64 ? "pd" : "ps";
    if (strstr(edit->nest->prologue, "vreal_stream("))
        return;
    (void)buf_append_str(&out, edit->nest->prologue);
    (void)buf_printf(&out,
                     "/* *to = x, past the caches where the address allows it */\n"
                     "static inline void vreal_stream(real *to, vreal x)\n"
                     "{\n"
                     "    if ((uintptr_t)to %% sizeof x != 0) {\n"
                     "        *(vreal_unaligned *)to = x;\n"
                     "        return;\n"
                     "    }\n"
                     "#if __has_builtin(__builtin_nontemporal_store)\n"
                     "    __builtin_nontemporal_store(x, (vreal *)to);\n"
                     "#elif defined %s && __has_builtin(__builtin_ia32_movnt%s%s)\n"
                     "    __builtin_ia32_movnt%s%s(to, x);\n"
                     "#else\n"
                     "    *(vreal *)to = x;\n"
                     "#endif\n"
                     "}\n\n",
                     isa, type, width, type, width);
    edit->nest->prologue = arena_strdup(edit->arena, buf_text(&out));
}

/* "vreal_at(y, i) = value" of an argument. */
static bool is_store(const struct nest_stmt *s)
{
    return s->kind == NEST_ASSIGN && str_equal(s->op, "=") && s->target->kind == NEST_CALL &&
           str_equal(s->target->text, "vreal_at") && s->target->args[0]->kind == NEST_NAME &&
           s->target->args[0]->symbol->is_parameter;
}

static void to_stream(const struct nest_edit *edit, struct nest_stmt *s)
{
    CLEANUP(buf_free) struct buf text = {0};
    (void)buf_printf(&text, "vreal_stream(&%s[", s->target->args[0]->symbol->name);
    nest_print_expr(s->target->args[1], &text);
    (void)buf_append_str(&text, "], ");
    nest_print_expr(s->value, &text);
    (void)buf_append_str(&text, ");");
    s->kind = NEST_OPAQUE;
    s->text = arena_strdup(edit->arena, buf_text(&text));
    s->reason = "a store past the caches";
    s->target = NULL;
    s->value = NULL;
}

/* "vreal_transpose(&y[": a square that move transpose turned, where it goes to an argument. */
static const char square[] = "vreal_transpose(&";

static bool is_square(const struct nest_edit *edit, const struct nest_stmt *s)
{
    const struct task *task = edit->nest->task;
    if (s->kind != NEST_OPAQUE || !str_starts_with(s->text, square))
        return false;
    const char *name = s->text + strlen(square);
    const size_t length = strcspn(name, "[");
    for (size_t i = 0; i < task->arg_count; i++) {
        if (strlen(task->args[i].name) == length && strncmp(task->args[i].name, name, length) == 0)
            return true;
    }
    return false;
}

/* The helper of move transpose once more, with other stores; it stands in the prologue. */
static void add_square_helper(struct nest_edit *edit)
{
    static const char head[] = "static inline void vreal_transpose(";
    static const char store[] = "    vreal_at(to, ", end[] = "}\n\n";
    CLEANUP(buf_free) struct buf out = {0};
    const char *prologue = edit->nest->prologue;
    const char *at = strstr(prologue, head);
    if (strstr(prologue, "vreal_transpose_stream(") || !at)
        return;
    const char *stop = strstr(at, end);
    (void)buf_append_str(&out, prologue);
    (void)buf_append_str(&out, "/* the same, past the caches */\n"
                               "static inline void vreal_transpose_stream(");
    for (const char *line = at + strlen(head); line < stop; line += strcspn(line, "\n") + 1) {
        const int length = (int)strcspn(line, "\n");
        if (!str_starts_with(line, store)) {
            (void)buf_printf(&out, "%.*s\n", length, line);
            continue;
        }
        /* "0 * to_step) = r0;" */
        const char *place = line + strlen(store);
        const int place_length = (int)strcspn(place, ")");
        const char *value = place + place_length + strlen(") = ");
        (void)buf_printf(&out, "    vreal_stream(to + %.*s, %.*s);\n", place_length, place,
                         (int)strcspn(value, ";"), value);
    }
    (void)buf_append_str(&out, end);
    edit->nest->prologue = arena_strdup(edit->arena, buf_text(&out));
}

static void square_to_stream(struct nest_edit *edit, struct nest_stmt *s)
{
    s->text = arena_printf(edit->arena, "vreal_transpose_stream(&%s", s->text + strlen(square));
    add_square_helper(edit);
}

/* Behind the outermost loop, once. */
static void add_fence(const struct nest_edit *edit, struct nest_stmt *loop)
{
    struct nest_stmt *around[NEST_MAX_DEPTH];
    struct nest_stmt *outermost =
        nest_loops_around(edit->nest, loop, around) > 0 ? around[0] : loop;
    struct nest_stmt *next = outermost->next;
    if (next && next->kind == NEST_OPAQUE && str_equal(next->text, fence))
        return;
    struct nest_stmt *stmt = nest_new_stmt(edit, NEST_OPAQUE, loop->line);
    stmt->text = fence;
    stmt->reason = "a fence behind stores past the caches";
    stmt->next = next;
    outermost->next = stmt;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    size_t count = 0;
    struct nest_stmt *loop = vector_step_loop(edit, step, refusal);
    if (!loop)
        return false;
    for (struct nest_stmt *s = loop->body; s; s = s->next)
        count += is_store(s) || is_square(edit, s);
    if (count == 0)
        return nest_refuse(edit, refusal, "loop '%s' sets no vectors of an argument", loop->name);
    add_helper(edit);
    for (struct nest_stmt *s = loop->body; s; s = s->next) {
        if (is_store(s))
            to_stream(edit, s);
        else if (is_square(edit, s))
            square_to_stream(edit, s);
    }
    add_fence(edit, loop);
    return true;
}

const struct nest_move nest_move_stream = {
    .name = "stream",
    .group = "machine",
    .intent = "stores the vectors of a loop past the caches",
    .parameters = "stream(LOOP); the last step on LOOP",
    .precondition =
        "the loop is innermost and sets vectors of an argument (after vectorize or transpose)",
    .effect = "what is written is not read first: up to 1.4 times where results exceed the caches, "
              "most with prefetch",
    .breaks = "slower where the results are read again soon; a fence at the end",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};

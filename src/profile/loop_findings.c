/* What is to be seen in the body of a loop. */
#include "profile/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

enum { MOST_LINES = 12 };

struct tally {
    size_t calls, gathers, stack, floats, scalars;
    int widest; /* bytes of a vector that is worked on */
    const char *callee;
};

static struct tally count_loop(const struct loop *loop)
{
    struct tally tally = {0};
    for (size_t i = 0; i < loop->count; i++) {
        const struct instruction *in = &loop->items[i];
        tally.calls += in->class == INSTRUCTION_CALL;
        tally.gathers += in->class == INSTRUCTION_GATHER;
        tally.stack += in->has_stack && in->width >= 4;
        tally.floats += in->is_float;
        tally.scalars += in->is_scalar;
        if (in->class == INSTRUCTION_CALL && !tally.callee)
            tally.callee = in->text + strcspn(in->text, " \t");
        if (in->class == INSTRUCTION_ARITHMETIC && !in->is_scalar && in->width > tally.widest)
            tally.widest = in->width;
    }
    return tally;
}

/* Where findings go, up to a number of them. */
struct sink {
    const struct loop *loop;
    const char *tool;
    struct arena *arena;
    struct finding *out;
    size_t count, capacity;
};

static void add(struct sink *sink, enum finding_kind kind, double number, const char *text)
{
    if (sink->count < sink->capacity)
        sink->out[sink->count++] = (struct finding){.kind = kind,
                                                    .tool = sink->tool,
                                                    .text = text,
                                                    .number = number,
                                                    .line = sink->loop->line};
}

const char *loop_name(const struct loop *loop, struct arena *arena)
{
    if (loop->line == 0)
        return "the hot loop";
    if (loop->first_line == loop->last_line)
        return arena_printf(arena, "the loop at line %d", loop->line);
    if (loop->last_line - loop->first_line > MOST_LINES)
        return arena_printf(arena, "the loop around line %d", loop->line); /* functions in it */
    return arena_printf(arena, "the loop in lines %d to %d", loop->first_line, loop->last_line);
}

/* "expf" of "\texpf@PLT". */
static const char *callee_name(const char *text, struct arena *arena)
{
    enum { MOST_NAME_BYTES = 60 };
    text += strspn(text, " \t*");
    const size_t length = strcspn(text, "@ \t(");
    char *name = arena_strndup(arena, text, str_cut_length(text, length, MOST_NAME_BYTES));
    str_make_printable(name);
    return name;
}

size_t profile_read_loop(const struct loop *loop, const char *tool, int64_t vector_bytes,
                         struct arena *arena, struct finding *out, size_t capacity)
{
    const struct tally t = count_loop(loop);
    const char *name = loop_name(loop, arena);
    struct sink sink = {loop, tool, arena, out, 0, capacity};
    if (t.calls)
        add(&sink, FINDING_CALLS, (double)t.calls,
            arena_printf(arena, "%s calls %s, %zu call%s in its body", name,
                         callee_name(t.callee, arena), t.calls, t.calls == 1 ? "" : "s"));
    if (2 * t.scalars > t.floats)
        add(&sink, FINDING_SCALAR, (double)t.scalars / (double)t.floats,
            arena_printf(arena,
                         "%s does %zu of its %zu floating-point operations on one element at a "
                         "time",
                         name, t.scalars, t.floats));
    else if (t.widest != 0 && t.widest < vector_bytes)
        add(&sink, FINDING_NARROW, t.widest,
            arena_printf(arena, "%s works on vectors of %d bytes, this machine has %d", name,
                         t.widest, (int)vector_bytes));
    if (t.gathers)
        add(&sink, FINDING_STRIDE, (double)t.gathers,
            arena_printf(arena, "%s gathers or scatters %zu vector%s element by element", name,
                         t.gathers, t.gathers == 1 ? "" : "s"));
    if (t.stack && !t.calls) /* around a call values have to go there */
        add(&sink, FINDING_SPILLS, (double)t.stack,
            arena_printf(arena,
                         "%s goes to the stack %zu time%s: it has more values than registers", name,
                         t.stack, t.stack == 1 ? "" : "s"));
    return sink.count;
}

const char *loop_block(const struct loop *loop, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < loop->count; i++)
        (void)buf_printf(&text, "\t%s\n", loop->items[i].text);
    return arena_strdup(arena, buf_text(&text));
}

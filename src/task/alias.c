/*
 * `alias`: an output that lies in the buffer of an input, so that a call works in place. The two
 * are one buffer from end to end or not at all: a partial overlap would make what is right depend
 * on the order in which a reference happens to work, for every kernel in another way.
 */
#include "base/str.h"
#include "task/internal.h"

#include <string.h>

/* The shape and the distance of rows in canonical text. */
static void print_layout(const struct task *task, const struct task_arg *arg, struct buf *out)
{
    for (size_t d = 0; d < arg->rank; d++) {
        (void)buf_append_char(out, '[');
        expr_print(arg->shape[d], task, out);
        (void)buf_append_char(out, ']');
    }
    if (arg->has_ld)
        (void)buf_printf(out, " ld %s", task->axes[arg->ld].name);
}

static bool same_layout(const struct task *task, const struct task_arg *a, const struct task_arg *b)
{
    CLEANUP(buf_free) struct buf left = {0};
    CLEANUP(buf_free) struct buf right = {0};
    print_layout(task, a, &left);
    print_layout(task, b, &right);
    return str_equal(buf_text(&left), buf_text(&right));
}

/* Of two arguments that are to share a buffer. */
static bool check_pair(const struct task_reader *reader, const struct yaml *at,
                       const struct task_arg *arg, const struct task_arg *other)
{
    const struct task *task = reader->task;
    if (other->role != ARG_IN) {
        (void)yaml_error(at, reader->err, "'alias' of '%s' is '%s', which is written itself",
                         arg->name, other->name);
        return err_hint(reader->err, "name an input (role: in), whose buffer the output takes");
    }
    if (arg->is_real != other->is_real || arg->dtype != other->dtype) {
        (void)yaml_error(at, reader->err, "'%s' is %s and '%s' is %s: one buffer has one dtype",
                         arg->name, arg->is_real ? "real" : dtype_name(arg->dtype), other->name,
                         other->is_real ? "real" : dtype_name(other->dtype));
        return err_hint(reader->err, "give both the same dtype, or leave 'alias' out");
    }
    if (!same_layout(task, arg, other)) {
        (void)yaml_error(at, reader->err,
                         "'%s' and '%s' differ in shape or ld: arguments that overlap in part are "
                         "not supported",
                         arg->name, other->name);
        return err_hint(reader->err, "write both shapes alike, with the same 'ld'; or make it one "
                                     "argument with role: inout that covers both");
    }
    for (size_t i = 0; i < task->arg_count; i++) {
        if (!task->args[i].has_alias || &task->args[task->args[i].alias] != other)
            continue;
        (void)yaml_error(at, reader->err, "'alias' of '%s' is '%s', whose buffer '%s' has already",
                         arg->name, other->name, task->args[i].name);
        return err_hint(reader->err,
                        "one output takes an input's buffer: leave 'alias' out of "
                        "'%s' or '%s'",
                        task->args[i].name, arg->name);
    }
    return true;
}

static bool read_alias(struct task_reader *reader, const struct yaml *item, struct task_arg *arg)
{
    struct task *task = reader->task;
    const struct yaml *at = yaml_get(item, "alias");
    const char *name = NULL;
    size_t other = 0;
    if (!at)
        return true;
    if (!yaml_read_string(item, "alias", true, &name, reader->err))
        return false;
    if (arg->role != ARG_OUT) {
        (void)yaml_error(at, reader->err, "'alias' of '%s', whose role is %s", arg->name,
                         arg->role == ARG_IN ? "in" : "inout");
        return err_hint(reader->err, "it gives an output (role: out) the buffer of an input; "
                                     "role: inout alone is one argument that is read and written");
    }
    while (other < task->arg_count && !str_equal(task->args[other].name, name))
        other++;
    if (other == task->arg_count) {
        (void)yaml_error(at, reader->err, "'alias' is '%.64s', which is no argument", name);
        return err_hint(reader->err, "name the input whose buffer '%s' takes", arg->name);
    }
    if (!check_pair(reader, at, arg, &task->args[other]))
        return false;
    arg->has_alias = true;
    arg->alias = other;
    return true;
}

bool read_aliases(struct task_reader *reader, const struct yaml *args)
{
    size_t arg = 0;
    for (const struct yaml *item = args->first; item; item = item->next)
        if (!read_alias(reader, item, &reader->task->args[arg++]))
            return false;
    return true;
}

/* The output that lies in this argument's buffer; the argument itself where there is none. */
static size_t owner_of(const struct task *task, size_t arg)
{
    for (size_t i = 0; i < task->arg_count; i++)
        if (task->args[i].has_alias && task->args[i].alias == arg)
            return i;
    return arg;
}

size_t task_arg_buffer(const struct task *task, size_t arg)
{
    const size_t owner = owner_of(task, arg);
    size_t buffer = 0;
    for (size_t i = 0; i < owner; i++)
        buffer += owner_of(task, i) == i;
    return buffer;
}

bool task_is_in_place(const struct task *task)
{
    for (size_t i = 0; i < task->arg_count; i++)
        if (task->args[i].has_alias)
            return true;
    return false;
}

bool task_arg_is_shared(const struct task *task, size_t arg)
{
    return task->args[arg].has_alias || owner_of(task, arg) != arg;
}

const struct task *task_buffers(const struct task *task, struct arena *arena)
{
    if (!task_is_in_place(task))
        return task;
    struct task *view = arena_memdup(arena, task, sizeof *task);
    view->arg_count = 0;
    view->is_view = true;
    for (size_t i = 0; i < task->arg_count; i++) {
        const struct task_arg *arg = &task->args[i];
        struct task_arg *buffer = &view->args[view->arg_count];
        if (owner_of(task, i) != i)
            continue;
        *buffer = *arg;
        for (size_t s = 0; s < task->special_count; s++) {
            const struct special_arg *given = task->specials[s].args;
            view->specials[s].args[view->arg_count] = given[arg->has_alias ? arg->alias : i];
            view->specials[s].results[view->arg_count] = task->specials[s].results[i];
        }
        if (arg->has_alias) {
            buffer->role = ARG_INOUT;
            buffer->draw = task->args[arg->alias].draw;
            buffer->has_alias = false;
        }
        view->arg_count++;
    }
    return view;
}

const char *task_alias_text(const struct task *task, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < task->arg_count; i++)
        if (task->args[i].has_alias)
            (void)buf_printf(&text,
                             "%s`%s` and `%s` are one buffer: every call works in place, with the "
                             "same pointer for both",
                             text.length ? "; " : "", task->args[task->args[i].alias].name,
                             task->args[i].name);
    return arena_strdup(arena, buf_text(&text));
}

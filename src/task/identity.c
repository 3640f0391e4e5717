/*
 * The C declaration of a task's entry point, and the id of a task.
 *
 * The id covers what can decide a verdict, in a canonical text: comments, spacing, quoting, key
 * order, spelled-out defaults and the labels for people (family, level, summary) do not change it.
 */
#include "base/str.h"
#include "task/internal.h"

#include <inttypes.h>

/* A constant of the operator is for arithmetic, so of a half type it is not stored in one. */
static const char *attr_type(const struct task *task, const char *real_name)
{
    return !dtype_is_half(task->dtype)                       ? real_name
           : str_equal(real_name, dtype_c_name(task->dtype)) ? dtype_c_name(task->accumulate)
           : str_equal(real_name, "real")                    ? "real_acc"
                                                             : real_name;
}

char *task_signature(const struct task *task, const char *real_name, struct arena *arena)
{
    struct buf text = {0};
    if (task->is_view)
        BUG("task '%s': no function has the arguments of task_buffers", task->name);
    (void)buf_printf(&text, "void %s(", task->entry);
    for (size_t i = 0; i < task->arg_count; i++) {
        const struct task_arg *arg = &task->args[i];
        (void)buf_printf(&text, "%s%s%s *%s", i ? ", " : "", arg->role == ARG_IN ? "const " : "",
                         arg->is_real ? real_name : dtype_c_name(arg->dtype), arg->name);
    }
    for (size_t i = 0; i < task->attr_count; i++)
        (void)buf_printf(&text, ", %s %s",
                         task->attrs[i].is_integer ? "int64_t" : attr_type(task, real_name),
                         task->attrs[i].name);
    for (size_t i = 0; i < task->axis_count; i++)
        (void)buf_printf(&text, ", int64_t %s", task->axes[i].name);
    (void)buf_append_char(&text, ')');
    char *out = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return out;
}

static void print_args(const struct task *task, struct buf *out)
{
    for (size_t i = 0; i < task->arg_count; i++) {
        const struct task_arg *arg = &task->args[i];
        (void)buf_printf(out, "arg %s %d %s %d %a %a", arg->name, (int)arg->role,
                         arg->is_real ? "real" : dtype_name(arg->dtype), (int)arg->draw.kind,
                         arg->draw.a, arg->draw.b);
        for (size_t d = 0; d < arg->rank; d++) {
            (void)buf_append_str(out, " [");
            expr_print(arg->shape[d], task, out);
            (void)buf_append_char(out, ']');
        }
        if (arg->has_ld)
            (void)buf_printf(out, " ld %s", task->axes[arg->ld].name);
        if (arg->has_alias)
            (void)buf_printf(out, " alias %s", task->args[arg->alias].name);
        (void)buf_append_char(out, '\n');
    }
}

static void print_cases(const struct task *task, struct buf *out)
{
    for (size_t i = 0; i < task->case_count; i++) {
        const struct task_case *c = &task->cases[i];
        (void)buf_printf(out, "case %d %a", (int)c->held_out, c->weight);
        for (size_t axis = 0; axis < task->axis_count; axis++)
            (void)buf_printf(out, " %" PRId64, c->axes[axis]);
        (void)buf_printf(out, " %s\n", c->name);
    }
}

/* Nothing where nothing is declared: ids of such tasks stay what they were. */
static void print_specials(const struct task *task, struct buf *out)
{
    for (size_t i = 0; i < task->special_count; i++) {
        (void)buf_append_str(out, "special");
        for (size_t arg = 0; arg < task->arg_count; arg++) {
            const struct task_special *given = &task->specials[i];
            const struct special_arg *special =
                task->args[arg].role == ARG_OUT ? &given->results[arg] : &given->args[arg];
            (void)buf_printf(out, " %d %a %d %a %a", (int)special->kind, special->value,
                             (int)special->draw.kind, special->draw.a, special->draw.b);
        }
        (void)buf_append_char(out, '\n');
    }
}

static void print_cost(const char *name, const struct task_expr *expr, const struct task *task,
                       struct buf *out)
{
    (void)buf_printf(out, "%s ", name);
    if (expr)
        expr_print(expr, task, out);
    (void)buf_append_char(out, '\n');
}

void task_identify(struct task *task)
{
    struct buf text = {0};
    (void)buf_printf(&text,
                     "name %s\nentry %s\ndtype %s %s\nprecision %s %d %d\nthreads %" PRId64 "\n",
                     task->name, task->entry, dtype_name(task->dtype), dtype_name(task->accumulate),
                     precision_class_name(task->precision), (int)task->allow_reassociate,
                     (int)task->finite_only, task->threads);
    for (size_t i = 0; i < task->axis_count; i++)
        (void)buf_printf(&text, "axis %s %" PRId64 " %" PRId64 " %" PRId64 "\n", task->axes[i].name,
                         task->axes[i].minimum, task->axes[i].maximum, task->axes[i].multiple);
    for (size_t i = 0; i < task->attr_count; i++) {
        const struct task_attr *attr = &task->attrs[i];
        (void)buf_printf(&text, "attr %s %d %a %" PRId64 "\n", attr->name, (int)attr->is_integer,
                         attr->real, attr->integer);
    }
    print_args(task, &text);
    print_cost("flops", task->flops, task, &text);
    print_cost("bytes", task->bytes, task, &text);
    print_cases(task, &text);
    print_specials(task, &text);
    const char *const parts[] = {"kope-task-1", buf_text(&text), task->reference};
    task->id = hash_strings(parts, sizeof parts / sizeof *parts);
    buf_free(&text);
}

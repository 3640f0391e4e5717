/*
 * The cases of a task: which sizes are measured, and that every expression has a sane value there.
 */
#include "base/str.h"
#include "task/internal.h"

#include <inttypes.h>
#include <math.h>

/* Elements of one argument; errors point at the case. */
static bool check_shape(const struct task_reader *reader, const struct yaml *at,
                        const struct task_case *c, const struct task_arg *arg, int64_t *elements)
{
    int64_t product = 1;
    for (size_t d = 0; d < arg->rank; d++) {
        const char *fault = NULL;
        int64_t extent = 0;
        if (!expr_eval_int(arg->shape[d], c->axes, &extent, &fault))
            return yaml_error(at, reader->err, "case '%.128s': %s in the shape '%s' of '%s'",
                              c->name, fault, arg->shape_text[d], arg->name);
        if (extent < 1) {
            (void)yaml_error(at, reader->err, "case '%.128s': the shape '%s' of '%s' is %" PRId64,
                             c->name, arg->shape_text[d], arg->name, extent);
            return err_hint(reader->err, "every dimension is at least 1");
        }
        if (arg->has_ld && d + 1 == arg->rank) {
            const int64_t ld = c->axes[arg->ld];
            if (ld < extent)
                return yaml_error(at, reader->err,
                                  "case '%.128s': '%s' is %" PRId64 ", less than a row of '%s', "
                                  "which has %" PRId64 " elements",
                                  c->name, reader->task->axes[arg->ld].name, ld, arg->name, extent);
            extent = ld;
        }
        if (extent > TASK_MAX_EXTENT || __builtin_mul_overflow(product, extent, &product))
            return yaml_error(at, reader->err, "case '%.128s': '%s' has too many elements", c->name,
                              arg->name);
    }
    *elements = product;
    return true;
}

/* Bytes of all buffers, and the least traffic that they can cause: what is updated moves twice. */
static bool check_buffers(const struct task_reader *reader, const struct yaml *at,
                          const struct task_case *c, double *traffic_bytes)
{
    const struct task *task = reader->task;
    int64_t total = 0;
    *traffic_bytes = 0.0;
    for (size_t i = 0; i < task->arg_count; i++) {
        const struct task_arg *arg = &task->args[i];
        int64_t elements = 0;
        int64_t bytes = 0;
        if (!check_shape(reader, at, c, arg, &elements))
            return false;
        if (arg->has_alias)
            elements = 0; /* those of the input */
        if (__builtin_mul_overflow(elements, (int64_t)dtype_bytes(arg->dtype), &bytes) ||
            __builtin_add_overflow(total, bytes, &total) || total > TASK_MAX_CASE_BYTES) {
            (void)yaml_error(at, reader->err, "case '%.128s': the buffers exceed %d MiB", c->name,
                             (int)(TASK_MAX_CASE_BYTES >> 20));
            return err_hint(reader->err, "choose smaller axes: a case of a few milliseconds "
                                         "measures best");
        }
        *traffic_bytes += task_arg_data_bytes(task, i, c) * (arg->role == ARG_INOUT ? 2.0 : 1.0);
    }
    return true;
}

/* The value of `flops` or `bytes` in a case, which the roofline divides by. */
static bool check_cost(const struct task_reader *reader, const struct yaml *at,
                       const struct task_case *c, const char *key, const struct task_expr *expr,
                       double *out)
{
    const double value = expr_eval_real(expr, c->axes);
    if (!isfinite(value)) {
        (void)yaml_error(at, reader->err, "case '%.128s': '%s' has no finite value", c->name, key);
        return err_hint(reader->err, "does it divide by zero?");
    }
    if (value < 0.0)
        return yaml_error(at, reader->err, "case '%.128s': '%s' is %g", c->name, key, value);
    *out = value;
    return true;
}

static bool check_costs(const struct task_reader *reader, const struct yaml *at,
                        const struct task_case *c, double traffic_bytes)
{
    const struct task *task = reader->task;
    double value = 0.0;
    if (task->flops && !check_cost(reader, at, c, "flops", task->flops, &value))
        return false;
    if (!task->bytes)
        return true;
    if (!check_cost(reader, at, c, "bytes", task->bytes, &value))
        return false;
    if (value > traffic_bytes) {
        (void)yaml_error(at, reader->err,
                         "case '%.128s': 'bytes' is %.0f, more than the buffers hold (%.0f)",
                         c->name, value, traffic_bytes);
        return err_hint(reader->err, "give the least traffic: each input read once, each output "
                                     "written once; leave 'bytes' out for just that");
    }
    return true;
}

/* "rows=64 cols=100" */
static const char *axes_text(const struct task_reader *reader, const int64_t *axes)
{
    struct buf text = {0};
    for (size_t i = 0; i < reader->task->axis_count; i++)
        (void)buf_printf(&text, "%s%s=%" PRId64, i ? " " : "", reader->task->axes[i].name, axes[i]);
    const char *out = arena_strdup(reader->arena, buf_text(&text));
    buf_free(&text);
    return out;
}

static bool check_unique(const struct task_reader *reader, const struct yaml *at,
                         const struct task_case *c)
{
    const struct task *task = reader->task;
    for (size_t i = 0; i < task->case_count; i++) {
        const struct task_case *other = &task->cases[i];
        bool same = true;
        for (size_t axis = 0; axis < task->axis_count; axis++)
            same = same && other->axes[axis] == c->axes[axis];
        if (!same && !str_equal(other->name, c->name))
            continue;
        (void)yaml_error(at, reader->err,
                         same ? "case '%.128s' has the same axes as an earlier case"
                              : "two cases are named '%.128s'",
                         c->name);
        if (same && c->held_out && !other->held_out)
            return err_hint(reader->err, "a held-out shape must differ from every case");
        return err_hint(reader->err, "remove it, or change it");
    }
    return true;
}

static bool read_axis_values(struct task_reader *reader, const struct yaml *item,
                             struct task_case *c)
{
    const struct task *task = reader->task;
    for (size_t i = 0; i < task->axis_count; i++) {
        const struct task_axis *axis = &task->axes[i];
        if (!yaml_get(item, axis->name)) {
            (void)yaml_error(item, reader->err, "a case without a value for the axis '%s'",
                             axis->name);
            return err_hint(reader->err, "add '%s: ...' to it", axis->name);
        }
        if (!yaml_read_int(item, axis->name, true, axis->minimum, axis->maximum, &c->axes[i],
                           reader->err))
            return false;
        if (c->axes[i] % axis->multiple != 0)
            return yaml_error(yaml_get(item, axis->name), reader->err,
                              "'%s' must be a multiple of %" PRId64 ", not %" PRId64, axis->name,
                              axis->multiple, c->axes[i]);
    }
    return true;
}

static bool read_case(struct task_reader *reader, const struct yaml *item, bool held_out)
{
    struct task *task = reader->task;
    const char *keys[TASK_MAX_AXES + 3] = {0};
    struct task_case c = {.weight = 1.0, .held_out = held_out};
    double traffic_bytes = 0.0;
    for (size_t i = 0; i < task->axis_count; i++)
        keys[i] = task->axes[i].name;
    keys[task->axis_count] = "name";
    keys[task->axis_count + 1] = "weight";
    if (!read_item(item, held_out ? "held_out" : "cases", keys, reader->err) ||
        !read_axis_values(reader, item, &c) || !read_label(item, "name", &c.name, reader->err) ||
        !yaml_read_real(item, "weight", false, &c.weight, reader->err))
        return false;
    if (!(c.weight > 0.0) || c.weight > 1e6)
        return yaml_error(yaml_get(item, "weight"), reader->err,
                          "'weight' must be greater than 0 and at most 1000000");
    if (c.name && c.name[0] == '\0')
        return yaml_error(yaml_get(item, "name"), reader->err, "the name of a case is empty");
    if (!c.name)
        c.name = axes_text(reader, c.axes);
    if (!check_unique(reader, item, &c) || !check_buffers(reader, item, &c, &traffic_bytes) ||
        !check_costs(reader, item, &c, traffic_bytes))
        return false;
    task->cases[task->case_count++] = c;
    return true;
}

static bool read_case_list(struct task_reader *reader, const char *key, const char *hint,
                           bool held_out)
{
    const struct yaml *list = NULL;
    if (!read_list(reader->root, key, hint, &list, reader->err))
        return false;
    for (const struct yaml *item = list->first; item; item = item->next) {
        if (reader->task->case_count == TASK_MAX_CASES)
            return yaml_error(item, reader->err, "more than %d cases", TASK_MAX_CASES);
        if (!read_case(reader, item, held_out))
            return false;
    }
    return true;
}

bool read_cases(struct task_reader *reader)
{
    return read_case_list(reader, "cases",
                          "name the shapes that count: cases: [{m: 64, n: 100}, ...]", false) &&
           read_case_list(reader, "held_out",
                          "keep one or two shapes that differ from every case out of the search: "
                          "held_out: [{m: 57, n: 101}]",
                          true);
}

#include "task/internal.h"

int64_t task_arg_extent(const struct task *task, const struct task_arg *arg, size_t dimension,
                        const struct task_case *c)
{
    const char *fault = NULL;
    int64_t extent = 0;
    if (!expr_eval_int(arg->shape[dimension], c->axes, &extent, &fault) || extent < 0)
        BUG("task '%s': a case that was not checked: shape of '%s'", task->name, arg->name);
    return extent;
}

struct task_rows task_arg_rows(const struct task *task, size_t arg, const struct task_case *c)
{
    const struct task_arg *a = &task->args[arg];
    int64_t count = 1;
    for (size_t d = 0; d + 1 < a->rank; d++)
        if (__builtin_mul_overflow(count, task_arg_extent(task, a, d, c), &count))
            BUG("task '%s': a case that was not checked: shape of '%s'", task->name, a->name);
    const int64_t used = a->rank ? task_arg_extent(task, a, a->rank - 1, c) : 1;
    return (struct task_rows){.count = (size_t)count,
                              .used = (size_t)used,
                              .pitch = (size_t)(a->has_ld ? c->axes[a->ld] : used)};
}

bool task_rows_is_gap(const struct task_rows *rows, size_t index)
{
    return rows->pitch != rows->used && index % rows->pitch >= rows->used;
}

const char *task_arg_pitch_text(const struct task *task, const struct task_arg *arg)
{
    return arg->has_ld ? task->axes[arg->ld].name : arg->shape_text[arg->rank - 1];
}

int64_t task_arg_elements(const struct task *task, size_t arg, const struct task_case *c)
{
    const struct task_rows rows = task_arg_rows(task, arg, c);
    size_t elements = 0;
    if (rows.count == 0 || rows.used == 0)
        return 0;
    if (__builtin_mul_overflow(rows.count - 1, rows.pitch, &elements) ||
        __builtin_add_overflow(elements, rows.used, &elements) || elements > INT64_MAX)
        BUG("task '%s': a case that was not checked: shape of '%s'", task->name,
            task->args[arg].name);
    return (int64_t)elements;
}

size_t task_arg_bytes(const struct task *task, size_t arg, const struct task_case *c)
{
    return (size_t)task_arg_elements(task, arg, c) * dtype_bytes(task->args[arg].dtype);
}

bool task_axes_fit(const struct task *task, const int64_t *axes, int64_t most_bytes)
{
    int64_t total = 0;
    bool has_zero = false;
    for (size_t axis = 0; axis < task->axis_count; axis++)
        has_zero = has_zero || axes[axis] == 0;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        int64_t bytes = (int64_t)dtype_bytes(task->args[arg].dtype), extent = 0;
        for (size_t d = 0; d < task->args[arg].rank; d++) {
            const char *fault = NULL;
            if (!expr_eval_int(task->args[arg].shape[d], axes, &extent, &fault) ||
                extent < (has_zero ? 0 : 1))
                return false;
            const bool is_row = task->args[arg].has_ld && d + 1 == task->args[arg].rank;
            if (is_row && axes[task->args[arg].ld] < extent)
                return false;
            if (__builtin_mul_overflow(bytes, is_row ? axes[task->args[arg].ld] : extent, &bytes))
                return false;
        }
        if (__builtin_add_overflow(total, bytes, &total) || total > most_bytes)
            return false;
    }
    return true;
}

double task_arg_data_bytes(const struct task *task, size_t arg, const struct task_case *c)
{
    const struct task_rows rows = task_arg_rows(task, arg, c);
    return (double)rows.count * (double)rows.used * (double)dtype_bytes(task->args[arg].dtype);
}

static double buffer_bytes(const struct task *task, const struct task_case *c)
{
    double bytes = 0.0;
    for (size_t i = 0; i < task->arg_count; i++)
        bytes += task->args[i].has_alias ? 0.0 : task_arg_data_bytes(task, i, c);
    return bytes;
}

double task_flops(const struct task *task, const struct task_case *c)
{
    return task->flops ? expr_eval_real(task->flops, c->axes) : 0.0;
}

double task_bytes(const struct task *task, const struct task_case *c)
{
    return task->bytes ? expr_eval_real(task->bytes, c->axes) : buffer_bytes(task, c);
}

const char *task_case_regime(const struct task *task, const struct task_case *c)
{
    const double bytes = buffer_bytes(task, c);
    if (bytes < 16.0 * 1024)
        return "tiny";
    if (bytes < 256.0 * 1024)
        return "small";
    return bytes < 8.0 * 1024 * 1024 ? "medium" : "large";
}

const char *task_regime(const struct task *task)
{
    const struct task_case *largest = &task->cases[0];
    for (size_t i = 1; i < task->case_count; i++) {
        if (task_bytes(task, &task->cases[i]) > task_bytes(task, largest))
            largest = &task->cases[i];
    }
    return task_case_regime(task, largest);
}

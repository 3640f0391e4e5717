#include "task/internal.h"

int64_t task_arg_elements(const struct task *task, size_t arg, const struct task_case *c)
{
    int64_t elements = 1;
    for (size_t d = 0; d < task->args[arg].rank; d++) {
        const char *fault = NULL;
        int64_t extent = 0;
        if (!expr_eval_int(task->args[arg].shape[d], c->axes, &extent, &fault) || extent < 0 ||
            __builtin_mul_overflow(elements, extent, &elements))
            BUG("task '%s': a case that was not checked: shape of '%s'", task->name,
                task->args[arg].name);
    }
    return elements;
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
                extent < (has_zero ? 0 : 1) || __builtin_mul_overflow(bytes, extent, &bytes))
                return false;
        }
        if (__builtin_add_overflow(total, bytes, &total) || total > most_bytes)
            return false;
    }
    return true;
}

static double buffer_bytes(const struct task *task, const struct task_case *c)
{
    double bytes = 0.0;
    for (size_t i = 0; i < task->arg_count; i++)
        bytes += (double)task_arg_bytes(task, i, c);
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

/* The null battery (M17): what kernels that do no work would give, held against every probe. */
#include "gate/internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum null_kernel {
    NULL_EMPTY, /* the poison stays */
    NULL_ZEROS,
    NULL_CONSTANT, /* 1 */
    NULL_TYPICAL,  /* the mean of the right output: 'constant by algebra' */
    NULL_COPY,     /* of the first input, wrapped */
    NULL_MEAN,     /* of the first input, everywhere */
    NULL_REVERSED, /* the right output backwards */
    NULL_COUNT
};

static const char *const names[] = {
    [NULL_EMPTY] = "empty body",
    [NULL_ZEROS] = "one that writes zeros",
    [NULL_CONSTANT] = "one that writes ones",
    [NULL_TYPICAL] = "one that writes the mean of the result",
    [NULL_COPY] = "one that copies the first input",
    [NULL_MEAN] = "one that writes the mean of the first input",
    [NULL_REVERSED] = "one that writes the result backwards",
};
static_assert(sizeof names / sizeof *names == NULL_COUNT, "name each null kernel");

/* One value everywhere, in the output's dtype. */
static void broadcast(enum dtype dtype, double value, void *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dtype_store(dtype, out, i, value);
}

/* Of an argument's values, which lie in `data` as in memory. */
static double mean(const struct task *task, size_t arg, const struct task_case *c, const void *data)
{
    const struct task_rows rows = task_arg_rows(task, arg, c);
    const size_t count = (size_t)task_arg_elements(task, arg, c);
    double sum = 0;
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        if (task_rows_is_gap(&rows, i))
            continue;
        sum += dtype_element(task->args[arg].dtype, data, i);
        seen++;
    }
    return seen ? sum / (double)seen : 0;
}

/* The first input's bytes again and again; zeros where it has none. */
static void copy_wrapped(const void *input, size_t input_bytes, void *out, size_t bytes)
{
    if (input_bytes == 0) {
        memset(out, 0, bytes);
        return;
    }
    for (size_t done = 0; done < bytes;) {
        const size_t length = input_bytes < bytes - done ? input_bytes : bytes - done;
        memcpy((char *)out + done, input, length);
        done += length;
    }
}

static void reverse(const struct yardstick *y, void *out)
{
    const size_t bytes = dtype_bytes(y->dtype);
    for (size_t i = 0; i < y->count; i++)
        memcpy((char *)out + i * bytes, (const char *)y->base + (y->count - 1 - i) * bytes, bytes);
}

/* Does the kernel do no work? The mean of the input, or the result backwards, may be the task
 * itself where there is one element. */
static bool is_null(enum null_kernel kernel, const struct yardstick *y, bool has_input)
{
    switch (kernel) {
    case NULL_EMPTY:
    case NULL_ZEROS:
    case NULL_CONSTANT:
        return true;
    case NULL_TYPICAL:
    case NULL_REVERSED:
        return y->count > 1;
    case NULL_COPY:
        return has_input;
    case NULL_MEAN:
        return has_input && y->count > 1;
    case NULL_COUNT:
        break;
    }
    return false;
}

static void run_null(const struct gate *gate, enum null_kernel kernel, const struct probe *probe,
                     size_t arg, size_t first, void *out)
{
    const struct task *task = gate->task;
    const struct task_case *c = probe->problem;
    const struct yardstick *y = &probe->outputs[arg];
    switch (kernel) {
    case NULL_EMPTY:
        data_poison(gate->data, data_poison_kind(task, arg, probe->distribution), 0, 0, out,
                    y->count * dtype_bytes(y->dtype));
        break;
    case NULL_ZEROS:
    case NULL_CONSTANT:
        broadcast(y->dtype, kernel == NULL_CONSTANT, out, y->count);
        break;
    case NULL_TYPICAL:
        broadcast(y->dtype, mean(task, arg, c, y->base), out, y->count);
        break;
    case NULL_COPY:
        copy_wrapped(probe->inputs[first], task_arg_bytes(task, first, c), out,
                     y->count * dtype_bytes(y->dtype));
        break;
    case NULL_MEAN:
        broadcast(y->dtype, mean(task, first, c, probe->inputs[first]), out, y->count);
        break;
    case NULL_REVERSED:
        reverse(y, out);
        break;
    case NULL_COUNT:
        break;
    }
}

/* Would the kernel pass this probe? */
static bool passes(const struct gate *gate, enum null_kernel kernel, const struct probe *probe)
{
    const struct task *task = gate->task;
    size_t first = 0;
    while (first < task->arg_count && !probe->inputs[first])
        first++;
    bool is_any = false, ok = true;
    for (size_t arg = 0; ok && arg < task->arg_count; arg++) {
        const struct yardstick *y = &probe->outputs[arg];
        if (y->count == 0 || !is_null(kernel, y, first < task->arg_count))
            continue;
        void *out = malloc(y->count * dtype_bytes(y->dtype));
        if (!out)
            BUG("gate: out of memory");
        run_null(gate, kernel, probe, arg, first, out);
        /* In place, an empty kernel leaves the input. */
        if (kernel == NULL_EMPTY && probe->inputs[arg])
            memcpy(out, probe->inputs[arg], y->count * dtype_bytes(y->dtype));
        const struct task_rows rows = task_arg_rows(task, arg, probe->problem);
        rows_blank(&rows, y->dtype, out);
        ok = compare_output(y, out).fault == COMPARISON_OK;
        is_any = true;
        free(out);
    }
    return ok && is_any;
}

bool null_battery(const struct gate *gate, const struct probe *probes, size_t count,
                  struct err *err)
{
    for (unsigned kernel = 0; count > 0 && kernel < NULL_COUNT; kernel++) {
        size_t passed = 0;
        while (passed < count && passes(gate, (enum null_kernel)kernel, &probes[passed]))
            passed++;
        if (passed < count)
            continue;
        (void)err_set(err, ERR_BAD_INPUT, "task '%s', case '%s' cannot tell a right kernel from %s",
                      gate->task->name, probes[0].problem->name, names[kernel]);
        return err_hint(err, "use another shape or another draw for this case");
    }
    return true;
}

/* A candidate under simulated caches, at a case made so small that this is done soon. */
#include "gate/internal.h"

#include <inttypes.h>
#include <string.h>

#define NATIVE_NS                                                                                  \
    (20.0 * (double)GATE_MS) /* of the baseline: a simulation is some 50 times slower */
#define MOST_BYTES (24.0 * 1024 * 1024)
enum { MOST_HALVINGS = 64 };

static double bytes_of(const struct task *task, const struct task_case *c)
{
    double bytes = 0.0;
    for (size_t arg = 0; arg < task->arg_count; arg++)
        bytes += (double)task_arg_bytes(task, arg, c);
    return bytes;
}

/* What the baseline would take, if it goes by the flops, or by the bytes where none are declared.
 */
static double time_of(const struct gate *gate, size_t case_index, const struct task_case *c)
{
    const struct task_case *whole = &gate->task->cases[case_index];
    const double flops = task_flops(gate->task, whole);
    const double share = flops > 0.0
                             ? task_flops(gate->task, c) / flops
                             : bytes_of(gate->task, c) / (bytes_of(gate->task, whole) + 1.0);
    return share * (double)gate->cases[case_index].baseline_ns;
}

/* Halves the longest axis that can be smaller; false where none can. */
static bool halve(struct gate *gate, int64_t *axes)
{
    const struct task *task = gate->task;
    size_t longest = task->axis_count;
    for (size_t i = 0; i < task->axis_count; i++) {
        if (edge_allowed(&task->axes[i], axes[i] / 2) < axes[i] &&
            (longest == task->axis_count || axes[i] > axes[longest]))
            longest = i;
    }
    if (longest == task->axis_count)
        return false;
    axes[longest] = edge_allowed(&task->axes[longest], axes[longest] / 2);
    return true;
}

static const char *shape_text(const struct task *task, const int64_t *axes, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < task->axis_count; i++)
        text =
            arena_printf(arena, "%s%s%s=%" PRId64, text, i ? " " : "", task->axes[i].name, axes[i]);
    return text;
}

static bool make_small(struct gate *gate, size_t case_index, struct task_case *c)
{
    int64_t axes[TASK_MAX_AXES] = {0};
    const size_t bytes = gate->task->axis_count * sizeof *axes;
    memcpy(axes, gate->task->cases[case_index].axes, bytes);
    for (int i = 0; i < MOST_HALVINGS; i++) {
        memcpy(c->axes, axes, bytes);
        edge_make_room(gate, c->axes);
        if (task_axes_fit(gate->task, c->axes, (int64_t)MOST_BYTES) &&
            time_of(gate, case_index, c) <= NATIVE_NS)
            return true;
        if (!halve(gate, axes))
            return false;
    }
    return false;
}

/* Declared inputs and the scalars of a call. */
static void fill_call(struct gate *gate, const struct task_case *c, struct arena *arena,
                      struct simulated_call *call)
{
    const struct task *task = gate->task;
    struct scalars *scalars = arena_alloc(arena, sizeof *scalars);
    scalars_fill(scalars, task, c);
    *call = (struct simulated_call){.buffer_count = task->arg_count,
                                    .ints = scalars->ints,
                                    .int_count = scalars->int_count,
                                    .reals = scalars->reals,
                                    .real_count = scalars->real_count};
    data_begin(gate->data);
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        call->bytes[arg] = task_arg_bytes(task, arg, c);
        if (task->args[arg].role == ARG_OUT)
            continue;
        void *values = arena_array(arena, call->bytes[arg] + 1, 1);
        data_fill(gate->data, arg, DISTRIBUTION_DECLARED, values,
                  (size_t)task_arg_elements(task, arg, c));
        call->contents[arg] = values;
    }
}

bool gate_misses(struct gate *gate, const struct candidate *candidate, const char *case_name,
                 struct arena *arena, struct gate_misses *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct gate_misses result = {.problem = "", .said = {.text = ""}, .shape = ""};
    const int64_t first_level = target_features(gate->target)->cache_bytes[0];
    const size_t case_index = watch_case(gate, case_name);
    struct task_case small = {.name = "small"};
    struct simulated_call call;
    const struct build_request request = {.task = gate->declared,
                                          .candidate = candidate,
                                          .real_name = dtype_c_name(gate->task->dtype)};
    if (!make_small(gate, case_index, &small)) {
        result.problem = "no shape that the task allows is small enough to be simulated";
    } else if (bytes_of(gate->task, &small) <= (double)first_level) {
        result.problem = arena_printf(
            arena, "all data fit the first cache, in the case or where it is small enough (%s)",
            shape_text(gate->task, small.axes, arena));
    } else {
        fill_call(gate, &small, &scratch, &call);
        if (!target_misses(gate->target, &request, &call, arena, &result.said, err))
            return false;
        result.problem = result.said.problem;
        result.shape = shape_text(gate->task, small.axes, arena);
        result.bytes = bytes_of(gate->task, &small);
    }
    *out = result;
    return true;
}

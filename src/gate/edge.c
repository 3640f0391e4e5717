/*
 * Edge sizes: where kernels that are right on the timed shapes go wrong. Every axis takes the sizes
 * around one and two vectors and around a block of 64, one, primes, and zero where it may be,
 * within what the task says that callers give. A shape has such a size on each axis, made small
 * enough to cost microseconds; in a set of shapes each axis goes through its sizes in an order of
 * its own.
 */
#include "gate/internal.h"

#include "base/buf.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_SIZES = 24, MOST_VOLUME = 1 << 15, MOST_TRIES = 64, MOST_GAP = 6 };
#define EDGE_BYTES                                                                                 \
    (INT64_C(1) << 20) /* of a shape; more only where the axes allow nothing less                  \
                        */

int64_t edge_allowed(const struct task_axis *axis, int64_t wanted)
{
    int64_t value = wanted < axis->minimum ? axis->minimum : wanted;
    value += (axis->multiple - value % axis->multiple) % axis->multiple;
    return value > axis->maximum ? axis->maximum - axis->maximum % axis->multiple : value;
}

static size_t list_sizes(const struct gate *gate, const struct task_axis *axis, int64_t *sizes)
{
    const int64_t vector_bytes = target_features(gate->target)->vector_bytes;
    const int64_t lanes =
        (vector_bytes > 0 ? vector_bytes : 32) / (int64_t)dtype_bytes(gate->task->dtype);
    const int64_t wanted[] = {0,  1,  2,  3,         lanes - 1,     lanes,         lanes + 1,
                              63, 64, 65, 2 * lanes, 2 * lanes - 1, 2 * lanes + 1, 5,
                              13, 31, 97};
    size_t count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const int64_t value = edge_allowed(axis, wanted[i]);
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known = known || sizes[k] == value;
        if (!known)
            sizes[count++] = value;
    }
    return count;
}

static void shuffle(struct gate *gate, int64_t *sizes, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t k = data_below(gate->data, i);
        const int64_t swapped = sizes[i - 1];
        sizes[i - 1] = sizes[k];
        sizes[k] = swapped;
    }
}

void edge_make_room(struct gate *gate, int64_t *axes)
{
    const struct task *task = gate->task;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        struct task_case problem = {.name = "edge"};
        if (!task->args[arg].has_ld)
            continue;
        memcpy(problem.axes, axes, task->axis_count * sizeof *axes);
        const int64_t used = (int64_t)task_arg_rows(task, arg, &problem).used;
        int64_t *ld = &axes[task->args[arg].ld];
        if (*ld < used)
            *ld = edge_allowed(&task->axes[task->args[arg].ld],
                               used + (int64_t)data_below(gate->data, MOST_GAP));
    }
}

/* Makes other axes than `kept` smaller until the shape is cheap; false where it cannot be. */
static bool make_cheap(struct gate *gate, size_t kept, int64_t *axes)
{
    const struct task *task = gate->task;
    for (size_t tries = 0; tries < MOST_TRIES; tries++) {
        double volume = 1;
        for (size_t axis = 0; axis < task->axis_count; axis++)
            volume *= (double)(axes[axis] > 1 ? axes[axis] : 1);
        edge_make_room(gate, axes);
        if (volume <= MOST_VOLUME && task_axes_fit(task, axes, EDGE_BYTES))
            return true;
        const size_t axis = data_below(gate->data, task->axis_count);
        if (axis != kept || tries > MOST_TRIES / 2)
            axes[axis] = edge_allowed(&task->axes[axis], 1 + (int64_t)data_below(gate->data, 4));
    }
    return task_axes_fit(task, axes, EDGE_BYTES);
}

static const char *name_of(struct gate *gate, const int64_t *axes)
{
    const char *text = "edge";
    for (size_t axis = 0; axis < gate->task->axis_count; axis++)
        text = arena_printf(&gate->arena, "%s %s=%" PRId64, text, gate->task->axes[axis].name,
                            axes[axis]);
    return text;
}

static bool is_new(const struct gate *gate, const struct edges *edges, const int64_t *axes)
{
    const size_t bytes = gate->task->axis_count * sizeof *axes;
    for (size_t i = 0; i < edges->count; i++)
        if (memcmp(edges->problems[i].axes, axes, bytes) == 0)
            return false;
    return true;
}

static void add(struct gate *gate, struct edges *edges, const int64_t *axes)
{
    struct task_case *problem = &edges->problems[edges->count++];
    *problem = (struct task_case){.name = name_of(gate, axes)};
    memcpy(problem->axes, axes, gate->task->axis_count * sizeof *axes);
    for (size_t arg = 0; arg < gate->task->arg_count; arg++) {
        const size_t room = (size_t)task_arg_elements(gate->task, arg, problem) * sizeof(double) +
                            ROOM_MARGIN_BYTES;
        if (room > edges->rooms[arg])
            edges->rooms[arg] = room;
    }
}

/* Has every argument elements? Without, nothing is special. */
static bool is_filled(const struct task *task, const struct task_case *problem)
{
    for (size_t arg = 0; arg < task->arg_count; arg++)
        if (task_arg_elements(task, arg, problem) == 0)
            return false;
    return true;
}

/* The axes of a case with the least data. */
static const int64_t *smallest_case(const struct task *task)
{
    size_t smallest = 0, least = SIZE_MAX;
    for (size_t i = 0; i < task->case_count; i++) {
        size_t bytes = 0;
        for (size_t arg = 0; arg < task->arg_count; arg++)
            bytes += task_arg_bytes(task, arg, &task->cases[i]);
        if (bytes < least) {
            least = bytes;
            smallest = i;
        }
    }
    return task->cases[smallest].axes;
}

/* A shape for each declared situation: one of the others, by lot, that has elements; where there is
 * none the smallest case. */
static void add_situations(struct gate *gate, struct edges *edges)
{
    const struct task *task = gate->task;
    const size_t shapes = edges->count;
    for (size_t situation = 0; situation < task->special_count; situation++) {
        const int64_t *axes = smallest_case(task);
        size_t filled = 0;
        for (size_t i = 0; i < shapes; i++)
            if (is_filled(task, &edges->problems[i]) && data_below(gate->data, ++filled) == 0)
                axes = edges->problems[i].axes;
        add(gate, edges, axes);
    }
}

void edges_choose(struct gate *gate, struct edges *edges)
{
    const struct task *task = gate->task;
    int64_t sizes[TASK_MAX_AXES][MOST_SIZES];
    size_t counts[TASK_MAX_AXES];
    *edges = (struct edges){0};
    for (size_t axis = 0; axis < task->axis_count; axis++) {
        counts[axis] = list_sizes(gate, &task->axes[axis], sizes[axis]);
        shuffle(gate, sizes[axis], counts[axis]);
    }
    for (size_t i = 0; edges->count < MOST_EDGES && i < 4 * MOST_EDGES; i++) {
        int64_t axes[TASK_MAX_AXES] = {0};
        for (size_t axis = 0; axis < task->axis_count; axis++)
            axes[axis] = sizes[axis][i % counts[axis]];
        if (make_cheap(gate, i % task->axis_count, axes) && is_new(gate, edges, axes))
            add(gate, edges, axes);
    }
    add_situations(gate, edges);
}

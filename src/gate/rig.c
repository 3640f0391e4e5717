#include "gate/internal.h"

#include "gate/crew.h"
#include "os/os.h"

#include <string.h>

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

size_t rig_arg_bytes(const struct rig *rig, size_t arg)
{
    return rig->elements[arg] * dtype_bytes(rig->dtypes[arg]);
}

static double attr_value(const struct task *task, double value)
{
    return task->dtype == DTYPE_F64 ? value : (double)(float)value;
}

void scalars_fill(struct scalars *scalars, const struct task *task, const struct task_case *problem)
{
    scalars->int_count = scalars->real_count = 0;
    for (size_t i = 0; i < task->attr_count; i++) {
        if (task->attrs[i].is_integer)
            scalars->ints[scalars->int_count++] = task->attrs[i].integer;
        else
            scalars->reals[scalars->real_count++] = attr_value(task, task->attrs[i].real);
    }
    for (size_t i = 0; i < task->axis_count; i++)
        scalars->ints[scalars->int_count++] = problem->axes[i];
}

/* The child waits for the bell and has been told where to work: had it worked ahead, then on other
 * data. */
static void load_late(void *ctx)
{
    struct rig *rig = ctx;
    if (rig->staging)
        staging_hand_over(rig->staging, rig->ring, rig);
    rig->staging = NULL;
    for (size_t i = 0; i < rig->late_count; i++)
        memcpy(rig->late[i].at, &rig->late[i].bits, rig->late[i].bytes);
    for (size_t i = 0; rig->is_cold && i < rig->late_count; i++)
        (void)os_flush_caches(rig->late[i].at, rig->late[i].bytes);
    rig->late_count = 0;
}

uint64_t rig_hash_spans(const struct rig *rig)
{
    static const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = rig->span_key, sum = 0;
    for (size_t i = 0; i < rig->span_count; i++) {
        const struct bell_span *span = &rig->spans[i];
        for (size_t at = 0; at < span->bytes; at += 16) {
            uint64_t words[2] = {0};
            const size_t rest = span->bytes - at;
            memcpy(words, (const char *)span->at + at, rest < sizeof words ? rest : sizeof words);
            key += step;
            sum += (words[0] + key) * (words[1] + (key >> 32 | key << 32));
        }
    }
    return sum;
}

/* The child says that it is done: what it has not written now, it writes after the clock. */
static void read_at_bell(void *ctx)
{
    struct rig *rig = ctx;
    for (size_t i = 0; i < rig->read_count; i++) {
        rig->reads[i].bits = 0;
        memcpy(&rig->reads[i].bits, rig->reads[i].at, rig->reads[i].bytes);
    }
    if (rig->read_count > 0)
        rig->span_hash = rig_hash_spans(rig);
    rig->read_count = 0;
}

static void fit(struct rig *rig, const struct task_case *problem)
{
    rig->problem = problem;
    for (size_t arg = 0; arg < rig->task->arg_count; arg++) {
        rig->elements[arg] = (size_t)task_arg_elements(rig->task, arg, problem);
        rig->rows[arg] = task_arg_rows(rig->task, arg, problem);
    }
}

void rig_move(struct rig *rig, const struct task_case *problem)
{
    fit(rig, problem);
    scalars_fill(&rig->scalars, rig->task, problem);
    session_set_ints(rig->session, rig->scalars.ints, rig->scalars.int_count);
}

static bool prepare(struct gate *gate, struct rig *rig, const struct task_case *problem,
                    enum dtype real, size_t image_room, const size_t *rooms, bool is_untimed,
                    int64_t sample_period_ns, struct err *err)
{
    const struct task *task = gate->task;
    *rig = (struct rig){.task = task};
    fit(rig, problem);
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        const struct task_arg *a = &task->args[arg];
        rig->dtypes[arg] = a->is_real ? real : a->dtype;
        const size_t room = rooms ? rooms[arg] : rig_arg_bytes(rig, arg) + ROOM_MARGIN_BYTES;
        rig->buffers[arg] = (struct session_buffer){.bytes = round_up(room, PAGE_BYTES),
                                                    .writable = a->role != ARG_IN};
    }
    scalars_fill(&rig->scalars, task, problem);
    const struct session_opts opts = {
        .image_bytes = image_room,
        .buffers = rig->buffers,
        .buffer_count = task->arg_count,
        .ints = rig->scalars.ints,
        .int_count = rig->scalars.int_count,
        .reals = rig->scalars.reals,
        .real_count = rig->scalars.real_count,
        .threads = task->threads,
        .memory_limit_bytes = gate->opts.memory_limit_bytes,
        .cpu = -1,
        .is_untimed = is_untimed,
        .by_account = !is_untimed,
        .sample_period_ns = sample_period_ns,
        .before_bell = load_late,
        .before_bell_ctx = rig,
        .after_bell = read_at_bell,
        .after_bell_ctx = rig,
    };
    return session_prepare(gate->target, &opts, &rig->session, err);
}

bool rig_prepare(struct gate *gate, struct rig *rig, const struct task_case *problem,
                 enum dtype real, size_t image_room, const size_t *rooms, struct err *err)
{
    return prepare(gate, rig, problem, real, image_room, rooms, true, 0, err);
}

bool rig_offer_image(struct rig *rig, struct image image, struct err *err)
{
    return session_give(rig->session, image.bytes, image.length, err);
}

bool rig_give_image(struct rig *rig, struct image image, struct session_report *report,
                    struct err *err)
{
    return session_load(&rig->session, image.bytes, image.length, report, err);
}

bool rig_start(struct gate *gate, struct rig *rig, size_t case_index, struct image image,
               enum dtype real, const size_t *rooms, struct session_report *report, struct err *err)
{
    return prepare(gate, rig, &gate->task->cases[case_index], real, image.length, rooms,
                   rooms == NULL, 0, err) &&
           rig_give_image(rig, image, report, err);
}

bool rig_start_watched(struct gate *gate, struct rig *rig, size_t case_index, struct image image,
                       const size_t *rooms, int64_t period_ns, struct session_report *report,
                       struct err *err)
{
    return prepare(gate, rig, &gate->task->cases[case_index], gate->task->dtype, image.length,
                   rooms, false, period_ns, err) &&
           rig_give_image(rig, image, report, err);
}

bool rig_start_at(struct gate *gate, struct rig *rig, const struct task_case *problem,
                  struct image image, enum dtype real, const size_t *rooms,
                  struct session_report *report, struct err *err)
{
    return prepare(gate, rig, problem, real, image.length, rooms, true, 0, err) &&
           rig_give_image(rig, image, report, err);
}

void rig_stop(struct rig *rig)
{
    session_stop(&rig->session);
    rig->is_spent = false;
}

void rig_end(struct rig *rig)
{
    session_end(&rig->session);
    rig->is_spent = rig->session != NULL;
}

const char *placement_name(enum placement placement)
{
    static const char *const names[] = {
        [PLACE_HEAD] = "flush with the head guard",
        [PLACE_TAIL] = "flush with the tail guard",
        [PLACE_SKEWED] = "at an unaligned address",
    };
    return names[placement];
}

struct session_call rig_place(struct gate *gate, const struct rig *rig, enum placement placement)
{
    static const size_t skews[] = {4, 8, 32, 60};
    struct session_call call = {0};
    for (size_t arg = 0; arg < rig->task->arg_count; arg++) {
        const size_t element = dtype_bytes(rig->dtypes[arg]);
        size_t skew = skews[data_below(gate->data, sizeof skews / sizeof *skews)];
        switch (placement) {
        case PLACE_TAIL:
            call.offsets[arg] = rig->buffers[arg].bytes - rig_arg_bytes(rig, arg);
            break;
        case PLACE_SKEWED:
            skew =
                element <= 2 ? element * (1 + data_below(gate->data, 31)) : round_up(skew, element);
            call.offsets[arg] = 64 + skew;
            break;
        case PLACE_HEAD:
        case PLACEMENT_COUNT:
            break;
        }
    }
    return call;
}

void *rig_arg(const struct rig *rig, const struct session_call *call, size_t arg)
{
    return (char *)rig->buffers[arg].host + call->offsets[arg];
}

/* What is to stand in a buffer before a call: the input from `begin` to `end`, poison in the rest.
 */
struct fill {
    const struct data *data;
    enum poison kind;
    size_t place;
    char *host;
    size_t begin, end, room; /* without input `begin` and `end` are `room` */
    const void *input;
    size_t first_piece;
};

struct fills {
    struct fill list[TASK_MAX_ARGS];
    size_t count;
};

enum { PIECE_BYTES = 512 * 1024 };

static size_t piece_count(const struct fill *fill)
{
    return (fill->room + PIECE_BYTES - 1) / PIECE_BYTES;
}

static void poison_piece(const struct fill *fill, size_t from, size_t to)
{
    if (from < to)
        data_poison(fill->data, fill->kind, fill->place, from, fill->host + from, to - from);
}

static void fill_piece(void *context, size_t piece)
{
    const struct fill *fill = ((const struct fills *)context)->list;
    while (piece >= fill->first_piece + piece_count(fill))
        fill++;
    const size_t from = (piece - fill->first_piece) * PIECE_BYTES;
    const size_t to = from + PIECE_BYTES < fill->room ? from + PIECE_BYTES : fill->room;
    const size_t first = from > fill->begin ? from : fill->begin;
    const size_t last = to < fill->end ? to : fill->end;
    poison_piece(fill, from, to < fill->begin ? to : fill->begin);
    if (first < last)
        memcpy(fill->host + first, (const char *)fill->input + (first - fill->begin), last - first);
    poison_piece(fill, from > fill->end ? from : fill->end, to);
}

void rig_load(struct gate *gate, struct rig *rig, const struct session_call *call,
              void *const *inputs, enum distribution distribution, size_t places[TASK_MAX_ARGS])
{
    struct fills fills = {.count = rig->task->arg_count};
    size_t pieces = 0;
    for (size_t arg = 0; arg < fills.count; arg++) {
        struct fill *fill = &fills.list[arg];
        const size_t room = rig->buffers[arg].bytes;
        places[arg] = data_poison_place(gate->data);
        *fill = (struct fill){.data = gate->data,
                              .kind = data_poison_kind(rig->task, arg, distribution),
                              .place = places[arg],
                              .host = rig->buffers[arg].host,
                              .begin = room,
                              .end = room,
                              .room = room,
                              .input = inputs[arg],
                              .first_piece = pieces};
        if (inputs[arg]) {
            fill->begin = call->offsets[arg];
            fill->end = fill->begin + rig_arg_bytes(rig, arg);
        }
        pieces += piece_count(fill);
    }
    crew_run(pieces > fills.count ? gate->crew : NULL, pieces, fill_piece, &fills);
    for (size_t arg = 0; arg < fills.count; arg++)
        if (inputs[arg] && rig->task->args[arg].role == ARG_IN)
            rows_poison(gate->data, fills.list[arg].kind, places[arg], fills.list[arg].begin,
                        &rig->rows[arg], dtype_bytes(rig->dtypes[arg]),
                        fills.list[arg].host + fills.list[arg].begin);
}

bool rig_guards_intact(const struct gate *gate, const struct rig *rig,
                       const struct session_call *call, void *const *inputs,
                       enum distribution distribution, const size_t places[TASK_MAX_ARGS],
                       struct breach *breach)
{
    for (size_t i = 0; i < rig->task->arg_count; i++) {
        if (!rig->buffers[i].writable)
            continue; /* the child cannot write there */
        const enum poison kind = data_poison_kind(rig->task, i, distribution);
        const char *host = rig->buffers[i].host;
        const size_t begin = call->offsets[i], end = begin + rig_arg_bytes(rig, i);
        *breach = (struct breach){.arg = i};
        if (!data_poison_intact(gate->data, kind, places[i], 0, host, begin, &breach->bytes)) {
            breach->where = BREACH_BEFORE;
            breach->bytes = begin - breach->bytes;
            return false;
        }
        if (!data_poison_intact(gate->data, kind, places[i], end, host + end,
                                rig->buffers[i].bytes - end, &breach->bytes)) {
            breach->where = BREACH_BEHIND;
            return false;
        }
        const size_t element = dtype_bytes(rig->dtypes[i]);
        if (inputs[i] ? !rows_equal(&rig->rows[i], element, host + begin, inputs[i], &breach->bytes)
                      : !rows_intact(gate->data, kind, places[i], begin, &rig->rows[i], element,
                                     host + begin, &breach->bytes)) {
            breach->where = BREACH_BETWEEN;
            return false;
        }
    }
    return true;
}

void rig_blank_gaps(const struct rig *rig, const struct session_call *call)
{
    for (size_t arg = 0; arg < rig->task->arg_count; arg++)
        if (rig->buffers[arg].writable)
            rows_blank(&rig->rows[arg], rig->dtypes[arg], rig_arg(rig, call, arg));
}

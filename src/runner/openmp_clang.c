/*
 * OpenMP as clang calls it (the __kmpc_ entry points of LLVM's runtime, as clang -fopenmp emits
 * them), over team.h. The bounds of loops are inclusive there.
 */
#include "runner/openmp.h"

#include <stdarg.h>

enum {
    MOST_ARGUMENTS = 15,
    SCHEDULE_MODIFIERS = 1 << 29 | 1 << 30, /* monotonic, nonmonotonic */
    SCHEDULE_STATIC_CHUNKED = 33,
    SCHEDULE_STATIC = 34,
    SCHEDULE_GUIDED = 36
};

struct fork {
    runner_function body;
    int32_t count;
    void *arguments[MOST_ARGUMENTS];
};

typedef void call_5(int32_t *, int32_t *, void *, void *, void *, void *, void *);
typedef void call_15(int32_t *, int32_t *, void *, void *, void *, void *, void *, void *, void *,
                     void *, void *, void *, void *, void *, void *, void *, void *);

/* More arguments than the function takes do no harm where the caller clears them from the stack, as
 * in the C calling conventions of the machines that we know. */
static void call_body(void *argument)
{
    const struct fork *fork = argument;
    void *const *a = fork->arguments;
    int32_t number = (int32_t)team_number(), bound = 0;
    if (fork->count <= 4)
        ((call_5 *)fork->body)(&number, &bound, a[0], a[1], a[2], a[3], a[4]);
    else
        ((call_15 *)fork->body)(&number, &bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                a[8], a[9], a[10], a[11], a[12], a[13], a[14]);
}

static _Thread_local uint32_t wanted; /* by the next region; 0: as many as there are */

void __kmpc_fork_call(const void *where, int32_t count, runner_function body, ...)
{
    struct fork fork = {.body = body, .count = count};
    const uint32_t threads = wanted;
    va_list list;
    (void)where;
    if (count < 0 || count > MOST_ARGUMENTS)
        fault_abort();
    va_start(list, body);
    for (int32_t i = 0; i < count; i++)
        fork.arguments[i] = va_arg(list, void *);
    va_end(list);
    wanted = 0;
    team_run(call_body, &fork, threads);
}

int32_t __kmpc_global_thread_num(const void *where)
{
    (void)where;
    return (int32_t)team_number();
}

void __kmpc_push_num_threads(const void *where, int32_t thread, int32_t count)
{
    (void)where, (void)thread;
    wanted = count > 0 ? (uint32_t)count : 0;
}

/* A region that an 'if' clause made serial: clang calls its body itself. */
void __kmpc_serialized_parallel(const void *where, int32_t thread)
{
    (void)where, (void)thread;
}

void __kmpc_end_serialized_parallel(const void *where, int32_t thread)
{
    (void)where, (void)thread;
}

void __kmpc_barrier(const void *where, int32_t thread)
{
    (void)where, (void)thread;
    team_barrier();
}

void __kmpc_flush(const void *where)
{
    (void)where;
    atomic_thread_fence(memory_order_seq_cst);
}

/* The lock is eight words of the object, all 0. */
void __kmpc_critical(const void *where, int32_t thread, void *lock)
{
    (void)where, (void)thread;
    team_lock(lock);
}

void __kmpc_critical_with_hint(const void *where, int32_t thread, void *lock, uint32_t hint)
{
    (void)hint;
    __kmpc_critical(where, thread, lock);
}

void __kmpc_end_critical(const void *where, int32_t thread, void *lock)
{
    (void)where, (void)thread;
    team_unlock(lock);
}

int32_t __kmpc_master(const void *where, int32_t thread)
{
    (void)where, (void)thread;
    return team_number() == 0;
}

void __kmpc_end_master(const void *where, int32_t thread)
{
    (void)where, (void)thread;
}

int32_t __kmpc_single(const void *where, int32_t thread)
{
    (void)where, (void)thread;
    return GOMP_single_start();
}

void __kmpc_end_single(const void *where, int32_t thread)
{
    (void)where, (void)thread;
}

/* 1: the caller combines its part with the result and then ends the reduction. One at a time. */
int32_t __kmpc_reduce_nowait(const void *where, int32_t thread, int32_t count, size_t bytes,
                             void *data, void (*combine)(void *, void *), void *lock)
{
    (void)count, (void)bytes, (void)data, (void)combine;
    __kmpc_critical(where, thread, lock);
    return 1;
}

int32_t __kmpc_reduce(const void *where, int32_t thread, int32_t count, size_t bytes, void *data,
                      void (*combine)(void *, void *), void *lock)
{
    return __kmpc_reduce_nowait(where, thread, count, bytes, data, combine, lock);
}

void __kmpc_end_reduce_nowait(const void *where, int32_t thread, void *lock)
{
    __kmpc_end_critical(where, thread, lock);
}

void __kmpc_end_reduce(const void *where, int32_t thread, void *lock)
{
    __kmpc_end_critical(where, thread, lock);
    team_barrier();
}

/* --- static loops --------------------------------------------------------------------------------
 */

/* Bounds as 64-bit words, of which only differences matter: they wrap as the loop's own type does
 * where that is as wide, and do not where it is narrower. */
struct bounds {
    uint64_t low, high, stride;
    bool is_last;
};

static uint64_t count_of(uint64_t low, uint64_t high, int64_t step)
{
    return step > 0 ? (high - low) / (uint64_t)step + 1 : (low - high) / (0 - (uint64_t)step) + 1;
}

/* `is_empty`: the loop has no iteration. */
static void share(struct bounds *b, int32_t schedule, bool is_empty, int64_t step, int64_t chunk)
{
    const uint64_t threads = team_count(), me = team_number(), by = (uint64_t)step;
    if (is_empty) {
        b->stride = by;
        return;
    }
    const uint64_t total = count_of(b->low, b->high, step);
    if ((schedule & ~SCHEDULE_MODIFIERS) == SCHEDULE_STATIC_CHUNKED) {
        const uint64_t piece = chunk > 0 ? (uint64_t)chunk : 1;
        b->stride = piece * threads * by;
        b->low += piece * me * by;
        b->high = b->low + (piece - 1) * by;
        b->is_last = me == (total - 1) / piece % threads;
        return;
    }
    const uint64_t each = total / threads, more = total % threads;
    const uint64_t first = me * each + (me < more ? me : more);
    const uint64_t mine = each + (me < more);
    b->stride = total * by;
    b->is_last = mine > 0 && first + mine == total;
    b->low += first * by;
    b->high = b->low + mine * by - by; /* below `low` where there is none */
}

/* A thread without a share has its low end above the high one: threads without any follow those
 * with one, so that the low end is not the type's first value. */
#define STATIC_INIT(suffix, type, signed_type)                                                     \
    void __kmpc_for_static_init_##suffix(const void *where, int32_t thread, int32_t schedule,      \
                                         int32_t *is_last, type *low, type *high,                  \
                                         signed_type *stride, signed_type step, signed_type chunk) \
    {                                                                                              \
        const bool is_empty = step > 0 ? *high < *low : *low < *high;                              \
        struct bounds b = {.low = (uint64_t)(int64_t)*low, .high = (uint64_t)(int64_t)*high};      \
        (void)where, (void)thread;                                                                 \
        share(&b, schedule, is_empty, step, chunk);                                                \
        *low = (type)b.low;                                                                        \
        *high = (type)b.high;                                                                      \
        *stride = (signed_type)b.stride;                                                           \
        if (is_last)                                                                               \
            *is_last = b.is_last;                                                                  \
    }
STATIC_INIT(4, int32_t, int32_t)
STATIC_INIT(4u, uint32_t, int32_t)
STATIC_INIT(8, int64_t, int64_t)
STATIC_INIT(8u, uint64_t, int64_t)

void __kmpc_for_static_fini(const void *where, int32_t thread)
{
    (void)where, (void)thread;
}

/* --- dynamic loops
 * -------------------------------------------------------------------------------- */

static void begin_dispatch(int32_t schedule, bool is_empty, uint64_t low, uint64_t high,
                           int64_t step, int64_t chunk)
{
    team_loop_enter(
        &(struct team_loop){.total = is_empty ? 0 : count_of(low, high, step),
                            .chunk = chunk > 0 ? (uint64_t)chunk : 1,
                            .is_guided = (schedule & ~SCHEDULE_MODIFIERS) == SCHEDULE_GUIDED,
                            .first = (int64_t)low,
                            .step = step});
}

/* The last answer, 0, also leaves the loop. */
static int next_dispatch(int32_t *is_last, uint64_t *low, uint64_t *high, int64_t *step)
{
    uint64_t first, end;
    if (!team_loop_take(&first, &end)) {
        team_loop_leave();
        return 0;
    }
    const struct team_loop *loop = team_loop_now();
    *low = (uint64_t)loop->first + first * (uint64_t)loop->step;
    *high = (uint64_t)loop->first + (end - 1) * (uint64_t)loop->step;
    *step = loop->step;
    if (is_last)
        *is_last = end == loop->total;
    return 1;
}

#define DISPATCH(suffix, type, signed_type)                                                        \
    void __kmpc_dispatch_init_##suffix(const void *where, int32_t thread, int32_t schedule,        \
                                       type low, type high, signed_type step, signed_type chunk)   \
    {                                                                                              \
        (void)where, (void)thread;                                                                 \
        begin_dispatch(schedule, step > 0 ? high < low : low < high, (uint64_t)(int64_t)low,       \
                       (uint64_t)(int64_t)high, step, chunk);                                      \
    }                                                                                              \
    int __kmpc_dispatch_next_##suffix(const void *where, int32_t thread, int32_t *is_last,         \
                                      type *low, type *high, signed_type *step)                    \
    {                                                                                              \
        uint64_t from = 0, to = 0;                                                                 \
        int64_t by = 1;                                                                            \
        (void)where, (void)thread;                                                                 \
        if (!next_dispatch(is_last, &from, &to, &by))                                              \
            return 0;                                                                              \
        *low = (type)from;                                                                         \
        *high = (type)to;                                                                          \
        *step = (signed_type)by;                                                                   \
        return 1;                                                                                  \
    }
DISPATCH(4, int32_t, int32_t)
DISPATCH(4u, uint32_t, int32_t)
DISPATCH(8, int64_t, int64_t)
DISPATCH(8u, uint64_t, int64_t)

void __kmpc_dispatch_deinit(const void *where, int32_t thread)
{
    (void)where, (void)thread;
}

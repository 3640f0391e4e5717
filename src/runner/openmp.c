/*
 * OpenMP as gcc calls it (the ABI of libgomp, as gcc -fopenmp emits it), over team.h: parallel
 * regions, barriers, critical sections, single, sections, and loops with dynamic, guided and
 * runtime schedules (static ones need no call). Not here: tasks, teams, targets, cancellation,
 * ordered. An object that needs those is refused by the names of the functions.
 */
#include "runner/openmp.h"

#include "runner/team.h"

#include <stddef.h>

/* --- what programs ask ----------------------------------------------------------------------- */

int omp_get_thread_num(void)
{
    return (int)team_number();
}

int omp_get_num_threads(void)
{
    return (int)team_count();
}

int omp_get_max_threads(void)
{
    return (int)team_most();
}

int omp_get_num_procs(void)
{
    return (int)team_most();
}

int omp_get_thread_limit(void)
{
    return (int)team_most();
}

int omp_in_parallel(void)
{
    return team_count() > 1;
}

int omp_get_dynamic(void)
{
    return 0;
}

void omp_set_dynamic(int is_dynamic)
{
    (void)is_dynamic;
}

/* The number of threads is the task's; a region that wants fewer says so by a clause. */
void omp_set_num_threads(int count)
{
    (void)count;
}

/* A lock of omp.h: its first word is ours. */
void omp_init_lock(void *lock)
{
    atomic_store((_Atomic uint32_t *)lock, 0);
}

void omp_destroy_lock(void *lock)
{
    (void)lock;
}

void omp_set_lock(void *lock)
{
    team_lock(lock);
}

int omp_test_lock(void *lock)
{
    return team_try_lock(lock);
}

void omp_unset_lock(void *lock)
{
    team_unlock(lock);
}

/* --- regions ------------------------------------------------------------------------------------
 */

void GOMP_parallel(team_body body, void *data, unsigned count, unsigned flags)
{
    (void)flags;
    team_run(body, data, count);
}

void GOMP_barrier(void)
{
    team_barrier();
}

static _Atomic uint32_t critical, atomic;

void GOMP_critical_start(void)
{
    team_lock(&critical);
}

void GOMP_critical_end(void)
{
    team_unlock(&critical);
}

/* gcc gives the address of a word of its own for each name. */
void GOMP_critical_name_start(void **name)
{
    team_lock((_Atomic uint32_t *)(void *)name);
}

void GOMP_critical_name_end(void **name)
{
    team_unlock((_Atomic uint32_t *)(void *)name);
}

void GOMP_atomic_start(void)
{
    team_lock(&atomic);
}

void GOMP_atomic_end(void)
{
    team_unlock(&atomic);
}

/* One piece, for whoever comes first. */
bool GOMP_single_start(void)
{
    uint64_t first, end;
    team_loop_enter(&(struct team_loop){.total = 1, .chunk = 1});
    const bool is_mine = team_loop_take(&first, &end);
    team_loop_leave();
    return is_mine;
}

void *GOMP_single_copy_start(void)
{
    if (GOMP_single_start())
        return NULL;
    team_barrier();
    return team_given();
}

void GOMP_single_copy_end(void *data)
{
    team_give(data);
    team_barrier();
}

/* --- loops --------------------------------------------------------------------------------------
 */

static uint64_t iterations(long start, long end, long step)
{
    if (step > 0)
        return start < end ? ((uint64_t)end - (uint64_t)start - 1) / (uint64_t)step + 1 : 0;
    return start > end ? ((uint64_t)start - (uint64_t)end - 1) / (0 - (uint64_t)step) + 1 : 0;
}

static struct team_loop loop_of(long start, long end, long step, long chunk, bool is_guided)
{
    return (struct team_loop){.total = iterations(start, end, step),
                              .chunk = chunk > 0 ? (uint64_t)chunk : 1,
                              .is_guided = is_guided,
                              .first = start,
                              .step = step};
}

static bool next_piece(long *start, long *end)
{
    uint64_t first, last;
    if (!team_loop_take(&first, &last))
        return false;
    const struct team_loop *loop = team_loop_now();
    *start = (long)((uint64_t)loop->first + first * (uint64_t)loop->step);
    *end = (long)((uint64_t)loop->first + last * (uint64_t)loop->step);
    return true;
}

static bool start_loop(long start, long end, long step, long chunk, bool is_guided, long *from,
                       long *to)
{
    const struct team_loop loop = loop_of(start, end, step, chunk, is_guided);
    team_loop_enter(&loop);
    return next_piece(from, to);
}

bool GOMP_loop_dynamic_start(long start, long end, long step, long chunk, long *from, long *to)
{
    return start_loop(start, end, step, chunk, false, from, to);
}

bool GOMP_loop_guided_start(long start, long end, long step, long chunk, long *from, long *to)
{
    return start_loop(start, end, step, chunk, true, from, to);
}

bool GOMP_loop_runtime_start(long start, long end, long step, long *from, long *to)
{
    return start_loop(start, end, step, 1, false, from, to);
}

bool GOMP_loop_next(long *from, long *to)
{
    return next_piece(from, to);
}

void GOMP_loop_end_nowait(void)
{
    team_loop_leave();
}

void GOMP_loop_end(void)
{
    team_loop_leave();
    team_barrier();
}

/* A region that is one loop: each thread enters it before the body asks for its first piece. */
struct parallel_loop {
    team_body body;
    void *data;
    struct team_loop loop;
};

static void run_parallel_loop(void *argument)
{
    const struct parallel_loop *p = argument;
    team_loop_enter(&p->loop);
    p->body(p->data);
}

void GOMP_parallel_loop_dynamic(team_body body, void *data, unsigned count, long start, long end,
                                long step, long chunk, unsigned flags)
{
    struct parallel_loop p = {body, data, loop_of(start, end, step, chunk, false)};
    (void)flags;
    team_run(run_parallel_loop, &p, count);
}

void GOMP_parallel_loop_guided(team_body body, void *data, unsigned count, long start, long end,
                               long step, long chunk, unsigned flags)
{
    struct parallel_loop p = {body, data, loop_of(start, end, step, chunk, true)};
    (void)flags;
    team_run(run_parallel_loop, &p, count);
}

void GOMP_parallel_loop_runtime(team_body body, void *data, unsigned count, long start, long end,
                                long step, unsigned flags)
{
    struct parallel_loop p = {body, data, loop_of(start, end, step, 1, false)};
    (void)flags;
    team_run(run_parallel_loop, &p, count);
}

/* The same over unsigned long long; a step downwards comes as its two's complement. */
static bool start_loop_ull(bool is_up, unsigned long long start, unsigned long long end,
                           unsigned long long step, unsigned long long chunk, bool is_guided,
                           unsigned long long *from, unsigned long long *to)
{
    const uint64_t down = 0 - step;
    const uint64_t total = is_up ? (start < end ? (end - start - 1) / step + 1 : 0)
                                 : (start > end ? (start - end - 1) / down + 1 : 0);
    team_loop_enter(&(struct team_loop){.total = total,
                                        .chunk = chunk,
                                        .is_guided = is_guided,
                                        .first = (int64_t)start,
                                        .step = (int64_t)step});
    return next_piece((long *)from, (long *)to);
}

bool GOMP_loop_ull_dynamic_start(bool is_up, unsigned long long start, unsigned long long end,
                                 unsigned long long step, unsigned long long chunk,
                                 unsigned long long *from, unsigned long long *to)
{
    return start_loop_ull(is_up, start, end, step, chunk, false, from, to);
}

bool GOMP_loop_ull_guided_start(bool is_up, unsigned long long start, unsigned long long end,
                                unsigned long long step, unsigned long long chunk,
                                unsigned long long *from, unsigned long long *to)
{
    return start_loop_ull(is_up, start, end, step, chunk, true, from, to);
}

bool GOMP_loop_ull_next(unsigned long long *from, unsigned long long *to)
{
    return next_piece((long *)from, (long *)to);
}

/* --- sections
 * ------------------------------------------------------------------------------------- */

static struct team_loop sections(unsigned count)
{
    return (struct team_loop){.total = count, .chunk = 1, .first = 1, .step = 1};
}

unsigned GOMP_sections_next(void)
{
    uint64_t first, end;
    return team_loop_take(&first, &end) ? (unsigned)first + 1 : 0;
}

unsigned GOMP_sections_start(unsigned count)
{
    const struct team_loop loop = sections(count);
    team_loop_enter(&loop);
    return GOMP_sections_next();
}

void GOMP_sections_end_nowait(void)
{
    team_loop_leave();
}

void GOMP_sections_end(void)
{
    team_loop_leave();
    team_barrier();
}

void GOMP_parallel_sections(team_body body, void *data, unsigned threads, unsigned count,
                            unsigned flags)
{
    struct parallel_loop p = {body, data, sections(count)};
    (void)flags;
    team_run(run_parallel_loop, &p, threads);
}

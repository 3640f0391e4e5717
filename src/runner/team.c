#include "runner/team.h"

#include "runner/environment.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SPINS = 1 << 14,                /* of a thread that waits, before it sleeps */
    LOOPS = 8,                      /* that a thread may be ahead of the slowest one */
    ARENA_BYTES = 128 * 1024 * 1024 /* address space that malloc reserves for a thread's heap */
};

/* Of the team: between rounds, awake until the bell, at work. */
enum { AT_REST, BEFORE_BELL, IN_ROUND };

enum worker_state { FREE, READY, RUNNING, FINISHED, LEFT_ALONE };

struct worker {
    _Alignas(RUNNER_LINE_BYTES) _Atomic uint32_t state;
    _Atomic uint32_t is_asleep;
    void *(*function)(void *);
    void *argument, *result;
    _Atomic uint32_t is_detached;
    uint8_t *signal_stack;
};

/* A loop of a region; `word` is 2 x its number while it is set up, 2 x number + 1 when it is. */
struct shared_loop {
    _Alignas(RUNNER_LINE_BYTES) _Atomic uint64_t word;
    _Atomic uint64_t next;
    _Atomic uint32_t left;
    struct team_loop loop;
};

struct region {
    team_body body;
    void *argument;
    uint32_t count;
    _Alignas(RUNNER_LINE_BYTES) _Atomic uint32_t arrived;
    _Alignas(RUNNER_LINE_BYTES) _Atomic uint32_t phase;
    void *_Atomic given;
    struct shared_loop loops[LOOPS];
};

/* What a thread knows of itself in its region. */
struct member {
    struct region *region; /* NULL: in none */
    uint32_t number;
    uint64_t loop; /* the last one that it entered */
};

static _Thread_local struct member self;

static struct {
    struct runner_control *control;
    struct worker workers[RUNNER_MAX_THREADS];
    uint8_t signal_stacks[RUNNER_MAX_THREADS][FAULT_STACK_BYTES];
    uint32_t count;              /* of workers: the threads that are allowed; 0 where that is one */
    _Atomic uint32_t stage;      /* AT_REST, ... */
    _Atomic uint32_t has_region; /* one at a time */
    struct region region;
    struct member members[RUNNER_MAX_THREADS]; /* of it, but the first thread's */
} team;

/* --- waiting ---------------------------------------------------------------------------------- */

static void sleep_while(_Atomic uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, 0);
}

/* There are more threads than processors, by one: the last worker has the first thread's. */
static bool shares_processor(uint32_t worker)
{
    const uint32_t processors = team.control->config.processor_count;
    return processors != 0 && (worker + 1) % processors == 0;
}

static bool may_spin(void)
{
    return !team.control->config.yields;
}

/* Not while the last worker has work: whoever waits for it would keep it from its processor. */
static bool may_spin_in_wait(void)
{
    const uint32_t last = team.count - 1;
    if (!may_spin() || team.count == 0 || !shares_processor(last))
        return may_spin();
    const uint32_t state = atomic_load_explicit(&team.workers[last].state, memory_order_relaxed);
    return state == FREE || state == FINISHED;
}

/* Until the word is no longer `value`. */
static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
    for (int i = 0; i < SPINS && may_spin_in_wait(); i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            return;
        pause_briefly();
    }
    while (atomic_load_explicit(word, memory_order_acquire) == value)
        sleep_while(word, value);
}

void team_lock(_Atomic uint32_t *lock)
{
    uint32_t open = 0;
    if (atomic_compare_exchange_strong(lock, &open, 1))
        return;
    while (atomic_exchange(lock, 2) != 0)
        wait_while(lock, 2);
}

bool team_try_lock(_Atomic uint32_t *lock)
{
    uint32_t open = 0;
    return atomic_compare_exchange_strong(lock, &open, 1);
}

void team_unlock(_Atomic uint32_t *lock)
{
    if (atomic_exchange(lock, 0) == 2)
        wake_all(lock);
}

/* --- workers ------------------------------------------------------------------------------------
 */

static void run_work(struct worker *worker)
{
    const struct environment before = environment_read();
    atomic_store(&worker->state, RUNNING);
    worker->result = worker->function(worker->argument);
    finish_stores();
    if (environment_differs(environment_read(), before)) {
        atomic_store(&team.control->environment_changed, 1);
        environment_write(before);
    }
    const bool is_detached = atomic_load(&worker->is_detached) != 0;
    atomic_store(&worker->state, is_detached ? FREE : FINISHED);
    wake_all(&worker->state);
}

/* Sleeps unless there is work; looks for it until the bell, and then a while. */
static void wait_for_work(struct worker *worker)
{
    for (int i = 0; i < SPINS && may_spin();) {
        const uint32_t stage = atomic_load_explicit(&team.stage, memory_order_relaxed);
        if (atomic_load_explicit(&worker->state, memory_order_acquire) == READY)
            return;
        if (stage == AT_REST)
            break;
        i += stage == IN_ROUND;
        pause_briefly();
    }
    const uint32_t state = atomic_load(&worker->state);
    if (state == READY)
        return;
    atomic_store(&worker->is_asleep, 1);
    sleep_while(&worker->state, state);
    atomic_store(&worker->is_asleep, 0);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    const size_t index = (size_t)(worker - team.workers);
    team_pin(&team.control->config, index + 1);
    (void)fault_use_stack(team.signal_stacks[index]);
    for (;;) {
        if (atomic_load_explicit(&worker->state, memory_order_acquire) == READY)
            run_work(worker);
        else
            wait_for_work(worker);
    }
    return NULL;
}

uint64_t team_bytes(const struct runner_config *config)
{
    const uint64_t each = RUNNER_STACK_BYTES + ARENA_BYTES + RUNNER_GUARD_BYTES;
    return config->threads > 1 ? config->threads * each : 0;
}

void team_pin(const struct runner_config *config, size_t index)
{
    cpu_set_t set;
    if (config->processor_count == 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)config->processors[index % config->processor_count], &set);
    (void)sched_setaffinity(0, sizeof set, &set); /* a smaller affinity of the parent wins */
}

bool team_make(struct runner_control *control)
{
    pthread_attr_t attributes;
    const uint32_t threads = control->config.threads;
    team.control = control;
    if (threads <= 1)
        return true;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, RUNNER_STACK_BYTES) != 0)
        return false;
    for (uint32_t i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, work, &team.workers[i]) != 0)
            return false;
    }
    /* None is left on its way into its first sleep when the filters come. */
    for (uint32_t i = 0; i < threads; i++) {
        while (!atomic_load(&team.workers[i].is_asleep))
            (void)sched_yield();
    }
    team.count = threads;
    return true;
}

void team_wake(void)
{
    atomic_store(&team.stage, BEFORE_BELL);
    for (uint32_t i = 0; i < team.count && may_spin(); i++)
        if (!shares_processor(i))
            wake_all(&team.workers[i].state);
}

void team_begin(void)
{
    atomic_store_explicit(&team.stage, IN_ROUND, memory_order_relaxed);
}

uint32_t team_rest(void)
{
    uint32_t left = 0;
    atomic_store(&team.stage, AT_REST);
    for (uint32_t i = 0; i < team.count; i++)
        left += atomic_load(&team.workers[i].state) != FREE;
    return left;
}

static bool give_work(struct worker *worker, void *(*function)(void *), void *argument)
{
    uint32_t is_free = FREE;
    if (!atomic_compare_exchange_strong(&worker->state, &is_free, LEFT_ALONE))
        return false;
    worker->function = function;
    worker->argument = argument;
    atomic_store(&worker->is_detached, 0);
    atomic_store_explicit(&worker->state, READY, memory_order_release);
    if (atomic_load(&worker->is_asleep) || !may_spin())
        wake_all(&worker->state);
    return true;
}

/* The worker's last state is FINISHED. */
static void *take_result(struct worker *worker)
{
    for (uint32_t state = atomic_load(&worker->state); state != FINISHED;
         state = atomic_load(&worker->state))
        wait_while(&worker->state, state);
    void *result = worker->result;
    atomic_store(&worker->state, FREE);
    return result;
}

/* --- threads of the candidate's own
 * ---------------------------------------------------------------- */

int team_thread_create(unsigned long *out, const void *attributes, void *(*function)(void *),
                       void *argument)
{
    (void)attributes;
    /* From the end: an OpenMP region uses those at the beginning. The last one, which has the
     * processor of the thread that is most likely to go on, only where no other is free. */
    for (uint32_t i = 0; i < team.count; i++) {
        const uint32_t index = i + 1 < team.count ? team.count - 2 - i : team.count - 1;
        if (!give_work(&team.workers[index], function, argument))
            continue;
        *out = index + 1;
        return 0;
    }
    return EAGAIN;
}

static struct worker *worker_of(unsigned long thread)
{
    return thread >= 1 && thread <= team.count ? &team.workers[thread - 1] : NULL;
}

int team_thread_join(unsigned long thread, void **result)
{
    struct worker *worker = worker_of(thread);
    if (!worker || atomic_load(&worker->state) == FREE || atomic_load(&worker->is_detached))
        return ESRCH;
    void *got = take_result(worker);
    if (result)
        *result = got;
    return 0;
}

int team_thread_detach(unsigned long thread)
{
    struct worker *worker = worker_of(thread);
    if (!worker || atomic_load(&worker->state) == FREE)
        return ESRCH;
    atomic_store(&worker->is_detached, 1);
    uint32_t finished = FINISHED;
    (void)atomic_compare_exchange_strong(&worker->state, &finished, FREE);
    return 0;
}

/* --- regions
 * -------------------------------------------------------------------------------------- */

uint32_t team_most(void)
{
    return self.region || team.count == 0 ? 1 : team.count;
}

uint32_t team_number(void)
{
    return self.number;
}

uint32_t team_count(void)
{
    return self.region ? self.region->count : 1;
}

static void *run_member(void *argument)
{
    const struct member outer = self;
    self = *(const struct member *)argument;
    self.region->body(self.region->argument);
    self = outer;
    return NULL;
}

/* A region of one thread: within another, or where somebody else has the team. */
static void run_alone(team_body body, void *argument)
{
    struct region region = {.body = body, .argument = argument, .count = 1};
    struct member member = {.region = &region};
    (void)run_member(&member);
}

void team_run(team_body body, void *argument, uint32_t count)
{
    const uint32_t most = team_most();
    uint32_t idle = 0, given = 0;
    count = count == 0 || count > most ? most : count;
    if (count == 1 || !atomic_compare_exchange_strong(&team.has_region, &idle, 1)) {
        run_alone(body, argument);
        return;
    }
    struct region *region = &team.region;
    *region = (struct region){.body = body, .argument = argument, .count = count};
    for (uint32_t i = 1; i < count; i++) {
        team.members[i] = (struct member){.region = region, .number = i};
        while (!give_work(&team.workers[i - 1], run_member, &team.members[i]))
            wait_while(&team.workers[i - 1].state, RUNNING);
        given++;
    }
    struct member first = {.region = region};
    (void)run_member(&first);
    for (uint32_t i = 0; i < given; i++)
        (void)take_result(&team.workers[i]);
    atomic_store(&team.has_region, 0);
}

void team_barrier(void)
{
    struct region *region = self.region;
    if (!region || region->count == 1)
        return;
    const uint32_t phase = atomic_load(&region->phase);
    if (atomic_fetch_add(&region->arrived, 1) + 1 == region->count) {
        atomic_store(&region->arrived, 0);
        atomic_store(&region->phase, phase + 1);
        wake_all(&region->phase);
        return;
    }
    wait_while(&region->phase, phase);
}

void team_give(void *data)
{
    if (self.region)
        atomic_store(&self.region->given, data);
}

void *team_given(void)
{
    return self.region ? atomic_load(&self.region->given) : NULL;
}

/* --- shared loops
 * ----------------------------------------------------------------------------------- */

static struct shared_loop *slot(uint64_t number)
{
    return &self.region->loops[number % LOOPS];
}

/* Outside of a region a loop has a region of its own, which lasts as long as the thread. */
static void need_region(void)
{
    static _Thread_local struct region orphan;
    if (!self.region) {
        orphan.count = 1;
        self.region = &orphan;
    }
}

void team_loop_enter(const struct team_loop *loop)
{
    need_region();
    const uint64_t number = ++self.loop;
    struct shared_loop *shared = slot(number);
    for (;;) {
        uint64_t word = atomic_load(&shared->word);
        if (word == 2 * number + 1)
            return;
        /* The first one sets it up, once all have left the loop that was here before. */
        const bool is_over = word == 0 || atomic_load(&shared->left) == self.region->count;
        if (word < 2 * number && is_over &&
            atomic_compare_exchange_strong(&shared->word, &word, 2 * number)) {
            shared->loop = *loop;
            if (shared->loop.chunk == 0)
                shared->loop.chunk = 1;
            atomic_store(&shared->next, 0);
            atomic_store(&shared->left, 0);
            atomic_store(&shared->word, 2 * number + 1);
            return;
        }
        if (may_spin())
            pause_briefly();
        else
            (void)sched_yield();
    }
}

bool team_loop_take(uint64_t *first, uint64_t *end)
{
    struct shared_loop *shared = slot(self.loop);
    const struct team_loop *loop = &shared->loop;
    uint64_t next = atomic_load(&shared->next), piece;
    do {
        if (next >= loop->total)
            return false;
        const uint64_t left = loop->total - next;
        piece = loop->is_guided ? left / (2 * (uint64_t)self.region->count) : loop->chunk;
        piece = piece < loop->chunk ? loop->chunk : piece;
        piece = piece > left ? left : piece;
    } while (!atomic_compare_exchange_weak(&shared->next, &next, next + piece));
    *first = next;
    *end = next + piece;
    return true;
}

const struct team_loop *team_loop_now(void)
{
    return &slot(self.loop)->loop;
}

void team_loop_leave(void)
{
    (void)atomic_fetch_add(&slot(self.loop)->left, 1);
}

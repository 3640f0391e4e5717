#include "runner/environment.h"
#include "runner/team.h"

#include <errno.h>
#include <sched.h>

/* What the calls need, laid out before the clock starts. */
struct round {
    runner_call entry;
    const int64_t *ints;
    const double *reals;
    uint32_t count, buffer_count;
    void *arguments[RUNNER_MAX_CALLS * RUNNER_MAX_BUFFERS];
};

static void prepare(struct round *round, const struct runner_control *control, void *const *buffers)
{
    round->count = control->count > RUNNER_MAX_CALLS ? RUNNER_MAX_CALLS : control->count;
    for (uint32_t i = 0; i < round->count * round->buffer_count; i++)
        round->arguments[i] = (char *)buffers[i % round->buffer_count] + control->offsets[i];
}

/* Goes over each cache line: pages, TLB and caches are then as in a running program. Lines that may
 * be written are written, with what they hold, or the first call would take each of them back from
 * the cache of the parent that filled them. */
static void touch(const struct runner_config *config, void *const *buffers)
{
    enum { LINE_BYTES = 64 };
    for (uint32_t b = 0; b < config->buffer_count; b++) {
        volatile char *at = buffers[b];
        const bool writable = config->buffers[b].writable != 0;
        for (uint64_t i = 0; i < config->buffers[b].bytes; i += LINE_BYTES) {
            const char value = at[i];
            if (writable)
                at[i] = value;
        }
    }
}

static bool call_all(const struct round *round)
{
    const struct environment before = environment_read();
    bool changed = false;
    for (uint32_t i = 0; i < round->count; i++) {
        round->entry(round->arguments + (size_t)i * round->buffer_count, round->ints, round->reals);
        if (environment_differs(environment_read(), before)) {
            changed = true;
            environment_write(before);
        }
    }
    return changed;
}

/* A parent that has no processor of its own sleeps until there is something to see. */
static void call_parent(struct runner_control *control)
{
    if (control->posts)
        (void)sem_post(&control->done);
}

/* Answers requests to arm until the bell rings; or sleeps until then. */
static void wait_for_bell(struct runner_control *control, uint64_t sequence)
{
    const uint64_t ring = runner_word(sequence, RUNNER_RING);
    while (control->sleeps && atomic_load_explicit(&control->bell, memory_order_acquire) != ring)
        (void)sem_wait(&control->wake);
    uint64_t last = 0;
    for (;;) {
        const uint64_t word = atomic_load_explicit(&control->bell, memory_order_acquire);
        if (word == ring)
            return;
        const uint64_t attempt = word >> 56;
        if (word != last &&
            word == runner_attempt(runner_word(sequence, RUNNER_ARM), (unsigned)attempt)) {
            last = word;
            (void)sched_yield();
            atomic_store(&control->ack,
                         runner_attempt(runner_word(sequence, RUNNER_ARMED), (unsigned)attempt));
        } else if (control->config.yields) {
            (void)sched_yield();
        } else {
            pause_briefly();
        }
    }
}

void serve(struct runner_control *control, void *const *buffers, const struct image *image)
{
    const struct runner_config *config = &control->config;
    static struct round round;
    round = (struct round){.entry = image->entry,
                           .ints = config->ints,
                           .reals = config->reals,
                           .buffer_count = config->buffer_count};
    atomic_store(&control->phase, RUNNER_IDLE);
    for (;;) {
        while (sem_wait(&control->wake) != 0 && errno == EINTR)
            ;
        const uint64_t sequence = atomic_load(&control->sequence);
        prepare(&round, control, buffers);
        if (control->touch)
            touch(config, buffers);
        team_wake();
        atomic_store(&control->ack, runner_word(sequence, RUNNER_READY));
        call_parent(control);
        wait_for_bell(control, sequence);
        team_begin();
        if (call_all(&round))
            atomic_store(&control->environment_changed, 1);
        finish_stores();
        atomic_store(&control->threads_left, team_rest());
        atomic_store_explicit(&control->ack, runner_word(sequence, RUNNER_DONE),
                              memory_order_release);
        atomic_store(&control->ack, runner_word(sequence, RUNNER_PARKED));
        call_parent(control);
    }
}

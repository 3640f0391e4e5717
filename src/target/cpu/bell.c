#include "target/cpu/bell.h"

#include "os/os.h"

#include <sched.h>
#include <signal.h>

/* How the parent waits. */
#define SPIN_NS INT64_C(100000000) /* then the clock is read less often: 50 us in 100 ms */
#define NAP_NS INT64_C(50000)
#define LOOK_NS INT64_C(20000)            /* between looks whether the child is still there */
#define LONG_LOOK_NS INT64_C(5000000)     /* the same where it wakes the parent */
#define QUIESCE_HARD_NS INT64_C(20000000) /* still working after that: no noise */
enum { ATTEMPTS = 16 };

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool seen(const struct waiting *w)
{
    const uint64_t ack = atomic_load_explicit(&w->session->control->ack, memory_order_acquire);
    return ack == runner_attempt(runner_word(w->sequence, w->stage), w->attempt) ||
           (w->stage == RUNNER_DONE && ack == runner_word(w->sequence, RUNNER_PARKED));
}

/* The child posts when there is something to see. */
static bool sleep_a_while(const struct waiting *w)
{
    return seen(w) || (os_semaphore_wait(&w->session->control->done, LONG_LOOK_NS) && seen(w));
}

/* Spins for LOOK_NS, or gives the one processor away. */
static bool spin_a_while(const struct waiting *w)
{
    enum { SPINS = 64 };
    const int64_t until = os_now_ns() + LOOK_NS;
    do {
        for (int i = 0; i < SPINS; i++) {
            if (seen(w))
                return true;
            if (w->session->yields)
                (void)sched_yield();
            else
                relax();
        }
    } while (os_now_ns() < until);
    return false;
}

static enum wait_end wait_for(struct waiting *w)
{
    const int64_t started = os_now_ns();
    for (;;) {
        if (w->session->sleeps ? sleep_a_while(w) : spin_a_while(w))
            return WAIT_SEEN;
        if (launch_ended(w->session, &w->wait_status))
            return WAIT_DIED;
        const int64_t now = os_now_ns();
        if (now > w->deadline_ns)
            return WAIT_LATE;
        if (os_interrupted())
            return WAIT_INTERRUPTED;
        if (now - started > SPIN_NS && !w->session->sleeps)
            os_sleep_ns(NAP_NS);
    }
}

/* Waits until the child sleeps, which an honest one does at once. */
static void settle(struct cpu_session *s, struct round *round, int64_t cpu_before_ns)
{
    /* First of all: a child that acknowledged too early has not written everything yet. */
    if (s->after_bell)
        s->after_bell(s->after_bell_ctx);
    const int64_t started = os_now_ns();
    for (;;) {
        const int64_t waited = os_now_ns() - started;
        round->is = watch_status(s);
        round->cpu_ns = os_process_cpu_ns(s->pid) - cpu_before_ns;
        round->asleep = round->is.state == 'S';
        if (round->asleep || round->is.state == '?' || round->is.state == 'Z' ||
            round->cpu_ns - round->armed_ns > QUIESCE_HARD_NS || waited > 50 * QUIESCE_HARD_NS)
            return;
        if (waited > QUIESCE_NS)
            os_sleep_ns(NAP_NS);
        else if (s->sleeps)
            (void)sched_yield();
    }
}

/* Arms the child; again where its answer took so long that the account would say little. Returns
 * when the request was made that it answered in `*asked_ns`. */
static enum wait_end arm(struct waiting *w, struct round *round, int64_t *asked_ns)
{
    struct cpu_session *s = w->session;
    w->stage = RUNNER_ARMED;
    for (w->attempt = 0; w->attempt < ATTEMPTS; w->attempt++) {
        *asked_ns = os_now_ns();
        atomic_store(&s->control->bell,
                     runner_attempt(runner_word(w->sequence, RUNNER_ARM), w->attempt));
        const enum wait_end end = wait_for(w);
        if (end != WAIT_SEEN)
            return end;
        round->arming_ns = os_now_ns() - *asked_ns;
        round->attempts++;
        if (round->arming_ns <= s->arming_ns)
            break;
    }
    w->attempt = 0;
    return WAIT_SEEN;
}

/* What the caller keeps for the moment before the bell. */
static void fill_late(const struct waiting *w)
{
    const struct cpu_session *s = w->session;
    if (s->before_bell && !w->is_calibration)
        s->before_bell(s->before_bell_ctx);
}

/* The bell says that it rings; when it did. */
static int64_t write_ring(struct waiting *w, int64_t limit_ns)
{
    w->stage = RUNNER_DONE;
    const int64_t now = os_now_ns();
    w->deadline_ns = now + limit_ns;
    atomic_store_explicit(&w->session->control->bell, runner_word(w->sequence, RUNNER_RING),
                          memory_order_release);
    return now;
}

/* Arms the child, rings the bell and measures. What the child does between the last things that the
 * caller changes and the bell no clock sees: it must be short. */
static enum wait_end ring_armed(struct waiting *w, int64_t limit_ns, struct round *round)
{
    struct cpu_session *s = w->session;
    int64_t asked = 0;
    round->was = watch_status(s);
    enum wait_end end = arm(w, round, &asked);
    if (end != WAIT_SEEN)
        return end;
    const int64_t cpu_before = os_process_cpu_ns(s->pid);
    /* After it is armed: however often that was tried, none of it saw the final data. */
    fill_late(w);
    const int64_t rung = write_ring(w, limit_ns);
    end = wait_for(w);
    const int64_t after = os_now_ns();
    round->wall_ns = after - rung;
    round->armed_ns = after - asked;
    if (end == WAIT_SEEN)
        settle(s, round, cpu_before);
    return end;
}

/* The child has said that it is ready: waits until it sleeps, so that its account is exact. */
static enum wait_end wait_asleep(struct waiting *w)
{
    enum { YIELDS = 8 };
    for (int i = 0; watch_status(w->session).state != 'S'; i++) {
        if (launch_ended(w->session, &w->wait_status))
            return WAIT_DIED;
        if (os_now_ns() > w->deadline_ns)
            return WAIT_LATE;
        if (os_interrupted())
            return WAIT_INTERRUPTED;
        if (i < YIELDS)
            (void)sched_yield();
        else
            os_sleep_ns(LOOK_NS / 4);
    }
    return WAIT_SEEN;
}

/* Stops the child, whatever it does: none of its threads runs on, and its account is exact. */
static enum wait_end stop(struct waiting *w)
{
    struct cpu_session *s = w->session;
    (void)kill(s->pid, SIGSTOP);
    for (;;) {
        switch (launch_look(s, &w->wait_status)) {
        case LAUNCH_STOPPED:
            return WAIT_SEEN;
        case LAUNCH_ENDED:
            return WAIT_DIED;
        case LAUNCH_RUNS:
            break;
        }
        if (os_now_ns() > w->deadline_ns)
            return WAIT_LATE;
        if (os_interrupted())
            return WAIT_INTERRUPTED;
        if (s->sleeps)
            (void)sched_yield();
        else
            relax();
    }
}

/* As ring_armed, for a child that does nothing until the bell, so that its account is exact and
 * nothing that it does before is free. One thread sleeps by itself and is woken: nothing that
 * happens to the parent shows in the account. Several are stopped, and to be let go on is their
 * bell: waking is in the time, and what it costs in a round without a call is subtracted. */
static enum wait_end ring_held(struct waiting *w, int64_t limit_ns, struct round *round)
{
    struct cpu_session *s = w->session;
    enum wait_end end = s->stops ? stop(w) : wait_asleep(w);
    if (end != WAIT_SEEN)
        return end;
    round->was = watch_status(s);
    const int64_t cpu_before = os_process_cpu_ns(s->pid);
    fill_late(w);
    const int64_t rung = write_ring(w, limit_ns);
    (void)(s->stops ? kill(s->pid, SIGCONT) : sem_post(&s->control->wake));
    end = wait_for(w);
    round->wall_ns = round->armed_ns = os_now_ns() - rung;
    if (end == WAIT_SEEN)
        settle(s, round, cpu_before);
    return end;
}

/* Wakes the child and waits until it is ready. A parent that spins sleeps first, unless it has
 * processors of its own: the scheduler then wakes it on one that the child does not use. */
static enum wait_end wake(struct waiting *w, int64_t limit_ns)
{
    struct cpu_session *s = w->session;
    w->sequence = ++s->sequence;
    w->stage = RUNNER_READY;
    w->deadline_ns = os_now_ns() + limit_ns + READY_LIMIT_NS;
    atomic_store(&s->control->sequence, w->sequence);
    (void)sem_post(&s->control->wake);
    if (!s->is_untimed && !s->by_account && !s->stops)
        os_sleep_ns(NAP_NS / 2);
    return wait_for(w);
}

static enum wait_end ring(struct waiting *w, int64_t limit_ns, struct round *round)
{
    const bool is_held = w->session->by_account || w->session->stops;
    return is_held ? ring_held(w, limit_ns, round) : ring_armed(w, limit_ns, round);
}

/* One round. By account the parent goes to the child's processor, where they take turns: whatever
 * the others do, it is there when the child is done, and what it wrote is in the caches that the
 * child will use. Beside threads that are stopped it keeps off their processors, where that leaves
 * any. */
enum wait_end bell_round(struct waiting *w, int64_t limit_ns, struct round *round)
{
    struct cpu_session *s = w->session;
    struct os_affinity before = {0};
    if (s->by_account && s->processor >= 0)
        os_pin_thread_for_now(s->processor, &before);
    else if (s->stops && !s->sleeps)
        os_avoid_cpus_for_now(s->processors, s->processor_count, &before);
    enum wait_end end = wake(w, limit_ns);
    if (end == WAIT_SEEN)
        end = ring(w, limit_ns, round);
    os_unpin_thread(&before);
    return end;
}

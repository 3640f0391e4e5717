#include "target/cpu/bell.h"
#include "target/cpu/cpu.h"

#include "os/os.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* What the parent tolerates. */
#define START_LIMIT_NS INT64_C(10000000000)
#define START_NAP_NS INT64_C(50000)
#define CALIBRATION_NS INT64_C(200000000)
#define ARMING_NS INT64_C(20000) /* until it is calibrated */
#define ARMING_MORE_NS INT64_C(2000)
#define GAP_NS INT64_C(3000)              /* between wall and CPU time */
#define CHARGE_NS INT64_C(3000)           /* CPU time after the bell that is not charged */
#define IDLE_NS INT64_C(200000)           /* of CPU time while it should have slept */
#define ACCOUNT_SLICE_NS INT64_C(1000000) /* of CPU time, in which one switch is no disturbance */
#define THREAD_NS INT64_C(2000)           /* to let one more thread go on */
#define OTHERS_NS INT64_C(50000)          /* neither child nor parent: another process ran */
enum { CALIBRATION_ROUNDS = 12, STRIKES = 3, MOST_INVOLUNTARY = 2 };

static void report_as(struct cpu_session *s, struct session_report *report,
                      enum session_status status, const char *mechanism, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static void report_as(struct cpu_session *s, struct session_report *report,
                      enum session_status status, const char *mechanism, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(s->evidence, sizeof s->evidence, format, arguments);
    va_end(arguments);
    report->status = status;
    report->mechanism = mechanism;
    report->evidence = s->evidence;
    if (status != SESSION_NOISY)
        launch_kill(s);
}

/* A wait that did not see what it waited for, as a report; false where the user interrupted. */
static bool report_wait(struct waiting *w, enum wait_end end, int64_t limit_ns, const char *what,
                        struct session_report *report, struct err *err)
{
    if (end == WAIT_DIED) {
        evidence_of_death(w->session, w->wait_status, report);
        return true;
    }
    if (end == WAIT_INTERRUPTED) {
        launch_kill(w->session);
        return err_set(err, ERR_INTERRUPTED, "interrupted while a candidate ran");
    }
    report_as(w->session, report, SESSION_TIMED_OUT, "limit", "%s after %.3g s, killed", what,
              (double)limit_ns / 1e9);
    return true;
}

static void fill_calls(struct cpu_session *s, const struct session_call *calls, size_t count,
                       bool touch)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t b = 0; b < s->buffer_count; b++) {
            if (calls[i].offsets[b] > s->buffers[b].bytes)
                BUG("call %zu begins outside buffer %zu", i, b);
            s->control->offsets[i * s->buffer_count + b] = calls[i].offsets[b];
        }
    }
    s->control->count = (uint32_t)count;
    s->control->touch = touch;
    s->control->sleeps = s->by_account;
    s->control->posts = s->sleeps;
}

/* Is it the same candidate that slept? One that works on between rounds gains time that no clock
 * sees. */
static bool was_idle(struct cpu_session *s, struct session_report *report)
{
    const int64_t used = os_process_cpu_ns(s->pid) - s->idle_cpu_ns;
    if (s->idle_cpu_ns < 0 || used < IDLE_NS)
        return true;
    report_as(s, report, SESSION_REJECTED, "M8-quiesce",
              "it used %.1f us of CPU time between two calls, when it should have slept",
              (double)used / 1e3);
    return false;
}

/* CPU time that the clock did not see: beyond the wall time until the acknowledgement (of each
 * thread), and beyond what going to sleep costs. Negative where the child did not have the
 * processor all the time. */
static int64_t work_after_bell(const struct cpu_session *s, const struct round *round)
{
    return round->cpu_ns - s->threads * round->armed_ns - s->park_cpu_ns;
}

static bool still_works(struct cpu_session *s, const struct round *round,
                        struct session_report *report)
{
    const int64_t excess = work_after_bell(s, round);
    const int64_t allowed = QUIESCE_NS + round->wall_ns / 50;
    if (excess <= allowed && round->asleep) {
        s->strikes = 0;
        return false;
    }
    s->strikes++;
    const bool certain = !round->asleep || s->strikes >= STRIKES;
    report_as(s, report, certain ? SESSION_REJECTED : SESSION_NOISY, "M8-quiesce",
              "it went on working after the bell: %.1f us of CPU time after a run of %.1f us",
              (double)excess / 1e3, (double)round->wall_ns / 1e3);
    return true;
}

/* Was the child, or the parent that watched, off the processor while it mattered? A request to arm
 * may count as an involuntary switch; with one processor for both, every turn is one. */
static bool was_disturbed(struct cpu_session *s, const struct round *round,
                          struct session_report *report)
{
    const int64_t involuntary =
        round->is.involuntary - round->was.involuntary - (int64_t)round->attempts;
    const int64_t slept = round->is.voluntary - round->was.voluntary;
    const int64_t gap = -work_after_bell(s, round);
    const int64_t allowed = s->yields ? QUIESCE_NS + round->wall_ns / 20 /* it waits for its turn */
                                      : GAP_NS + round->wall_ns / 50;
    if (round->arming_ns > s->arming_ns && !s->yields)
        report_as(s, report, SESSION_NOISY, "arming", "it took %.1f us to answer before the bell",
                  (double)round->arming_ns / 1e3);
    else if (!s->yields && involuntary > MOST_INVOLUNTARY + round->wall_ns / 100000000)
        report_as(s, report, SESSION_NOISY, "switches", "%lld involuntary context switches",
                  (long long)involuntary);
    else if (s->threads == 1 && slept <= 1 && gap > allowed)
        report_as(s, report, SESSION_NOISY, "steal",
                  "of %.1f us it had the processor for %.1f us only", (double)round->wall_ns / 1e3,
                  (double)(round->wall_ns - gap) / 1e3);
    return report->status != SESSION_OK;
}

/* By account only what disturbs the caches counts: the processor lost in the middle of a run, more
 * often than a long run must expect; and a child that slept, whose account says too little. One
 * switch is the parent's, which the child has just called; another process in its place takes
 * longer. */
static bool was_interrupted(struct cpu_session *s, const struct round *round,
                            struct session_report *report)
{
    const int64_t involuntary = round->is.involuntary - round->was.involuntary;
    const int64_t slept = round->is.voluntary - round->was.voluntary;
    const int64_t gap = round->wall_ns - round->cpu_ns;
    if (slept > 1)
        report_as(s, report, SESSION_NOISY, "sleep", "it slept %lld times in the call",
                  (long long)slept - 1);
    else if (involuntary > 1 + round->cpu_ns / ACCOUNT_SLICE_NS ||
             (involuntary > round->cpu_ns / ACCOUNT_SLICE_NS && gap > OTHERS_NS))
        report_as(s, report, SESSION_NOISY, "switches",
                  "%lld involuntary context switches in a run that had the processor for %.1f of "
                  "%.1f us",
                  (long long)involuntary, (double)round->cpu_ns / 1e3,
                  (double)round->wall_ns / 1e3);
    return report->status != SESSION_OK;
}

static bool broke_rules(struct cpu_session *s, const struct round *round,
                        struct session_report *report)
{
    if (atomic_load(&s->control->environment_changed) != 0) {
        report_as(s, report, SESSION_REJECTED, "M13-fpenv",
                  "it changed the floating-point environment (rounding, flush-to-zero or masks)");
        return true;
    }
    /* They are made before the candidate is loaded, and it cannot make or end one. */
    const int64_t expected = s->threads > 1 ? s->threads + 1 : 1;
    const uint32_t left = atomic_load(&s->control->threads_left);
    if (round->is.threads != expected || left != 0) {
        report_as(s, report, SESSION_REJECTED, "M8-threads",
                  "after the call %lld thread(s) are there, %u of them not joined; should be %lld",
                  (long long)round->is.threads, left, (long long)expected);
        return true;
    }
    return false;
}

static void judge(struct cpu_session *s, const struct round *round, struct session_report *report)
{
    const int64_t work = work_after_bell(s, round), charge = work - CHARGE_NS;
    const int64_t elapsed = round->wall_ns - s->empty_ns + (charge > 0 ? charge : 0);
    const int64_t cpu = s->threads * round->wall_ns + (work < 0 ? work : 0);
    report->is_done = true;
    report->elapsed_ns = elapsed > 0 ? elapsed : 0;
    report->cpu_ns = cpu > 0 ? cpu : 0;
    report->processor = s->processor;
    if (s->by_account) {
        report->cpu_ns = round->cpu_ns > s->empty_cpu_ns ? round->cpu_ns - s->empty_cpu_ns : 0;
        report->elapsed_ns = report->cpu_ns;
    }
    s->idle_cpu_ns = os_process_cpu_ns(s->pid);
    if (broke_rules(s, round, report) || still_works(s, round, report))
        return;
    (void)(s->by_account ? was_interrupted(s, round, report) : was_disturbed(s, round, report));
}

bool cpu_session_run(struct session *session, const struct session_call *calls, size_t count,
                     bool touch, int64_t limit_ns, struct session_report *report, struct err *err)
{
    struct cpu_session *s = (struct cpu_session *)session;
    struct waiting w = {.session = s};
    struct round round = {0};
    if (s->pid == 0)
        BUG("a run in a session whose child is dead");
    if (!was_idle(s, report))
        return true;
    fill_calls(s, calls, count, touch);
    sampled_begin(s);
    enum wait_end end = bell_round(&w, limit_ns, &round);
    sampled_end(s);
    if (end != WAIT_SEEN && w.stage == RUNNER_READY)
        return report_wait(&w, end, limit_ns + READY_LIMIT_NS, "not ready for the bell", report,
                           err);
    if (end != WAIT_SEEN)
        return report_wait(&w, end, limit_ns, "still running", report, err);
    if (launch_ended(s, &w.wait_status))
        evidence_of_death(s, w.wait_status, report);
    else
        judge(s, &round, report);
    return true;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Is this round fit to calibrate with: nothing came between? Each thread wakes and goes to sleep.
 */
static bool is_clean(const struct cpu_session *s, const struct round *round)
{
    const int64_t parking = round->cpu_ns - round->armed_ns;
    return round->asleep && round->is.involuntary == round->was.involuntary &&
           parking > -QUIESCE_NS && parking < s->threads * QUIESCE_NS &&
           round->wall_ns < 2 * QUIESCE_NS + s->threads * THREAD_NS;
}

/* By account the parent's part in a round does not matter. */
static bool is_clean_account(const struct round *round)
{
    return round->asleep && round->is.involuntary <= round->was.involuntary + 1 &&
           round->wall_ns < 2 * QUIESCE_NS && round->cpu_ns < 2 * QUIESCE_NS;
}

/* What a round without a call costs: the median of clean ones. A host too busy to give any gets
 * zero, and noise is then found in the rounds themselves. */
static bool calibrate(struct cpu_session *s, struct session_report *report, struct err *err)
{
    enum { WARM = 3 };
    int64_t wall[CALIBRATION_ROUNDS], parking[CALIBRATION_ROUNDS], arming[CALIBRATION_ROUNDS];
    int64_t cpu[CALIBRATION_ROUNDS];
    const int64_t started = os_now_ns();
    size_t clean = 0;
    fill_calls(s, NULL, 0, false);
    for (size_t i = 0; clean < CALIBRATION_ROUNDS; i++) {
        if (i > WARM && os_now_ns() - started > CALIBRATION_NS)
            break;
        struct waiting w = {.session = s, .is_calibration = true};
        struct round round = {0};
        const enum wait_end end = bell_round(&w, START_LIMIT_NS, &round);
        if (end != WAIT_SEEN)
            return report_wait(&w, end, START_LIMIT_NS, "no answer to the bell", report, err);
        if (i < WARM || !(s->by_account ? is_clean_account(&round) : is_clean(s, &round)))
            continue;
        cpu[clean] = round.cpu_ns;
        wall[clean] = round.wall_ns;
        arming[clean] = round.arming_ns;
        parking[clean++] = round.cpu_ns - round.armed_ns;
    }
    if (clean > 0) {
        qsort(cpu, clean, sizeof *cpu, by_value);
        qsort(wall, clean, sizeof *wall, by_value);
        qsort(parking, clean, sizeof *parking, by_value);
        qsort(arming, clean, sizeof *arming, by_value);
        s->arming_ns = 3 * arming[clean / 2] + ARMING_MORE_NS;
        s->empty_ns = wall[clean / 2];
        s->empty_cpu_ns = cpu[clean / 2];
        s->park_cpu_ns = parking[clean / 2];
        cpu_state_of(s->base.target)->park_cpu_ns = s->park_cpu_ns;
    }
    s->idle_cpu_ns = os_process_cpu_ns(s->pid);
    return true;
}

/* Without rounds of its own: any answer to the request to arm is taken. */
static bool use_last_calibration(struct cpu_session *s)
{
    s->arming_ns = INT64_MAX;
    s->park_cpu_ns = cpu_state_of(s->base.target)->park_cpu_ns;
    s->idle_cpu_ns = os_process_cpu_ns(s->pid);
    return true;
}

/* The text that the runner left when it refused; no candidate has run yet. */
static void refused(struct cpu_session *s, struct session_report *report)
{
    char why[RUNNER_ERROR_BYTES];
    memcpy(why, s->control->error, sizeof why);
    why[sizeof why - 1] = '\0';
    report_as(s, report, SESSION_REJECTED, "M12-object", "the image cannot be loaded: %s", why);
}

static bool wait_for_box(struct cpu_session *s, struct session_report *report, struct err *err)
{
    const int64_t started = os_now_ns(), deadline = started + START_LIMIT_NS;
    int wait_status = 0;
    for (;;) {
        const uint32_t phase = atomic_load(&s->control->phase);
        if (phase == RUNNER_IDLE)
            return true;
        if (phase == RUNNER_REFUSED) {
            refused(s, report);
            return true;
        }
        if (phase == RUNNER_FAILED) {
            s->control->error[RUNNER_ERROR_BYTES - 1] = '\0';
            return err_set(err, ERR_UNSUPPORTED, "no box for candidates on this host: %s",
                           s->control->error);
        }
        if (launch_ended(s, &wait_status) && atomic_load(&s->control->phase) == phase)
            return err_set(err, ERR_IO, "'%s' ended before it was ready (status %d)",
                           cpu_state_of(s->base.target)->runner, wait_status);
        if (os_now_ns() > deadline)
            return err_set(err, ERR_IO, "'%s' does not become ready",
                           cpu_state_of(s->base.target)->runner);
        os_sleep_ns(START_NAP_NS);
    }
}

/* The session dies with the failure: its evidence moves to the target. */
static void keep_start_evidence(struct cpu_session *s, struct session_report *report)
{
    struct cpu_state *state = cpu_state_of(s->base.target);
    (void)snprintf(state->start_evidence, sizeof state->start_evidence, "%s", report->evidence);
    report->evidence = state->start_evidence;
}

bool cpu_session_prepare(struct session *session, const struct session_opts *opts, struct err *err)
{
    struct cpu_session *s = (struct cpu_session *)session;
    s->status_fd = -1;
    s->idle_cpu_ns = -1;
    s->arming_ns = ARMING_NS;
    s->before_bell = opts->before_bell;
    s->by_account = opts->by_account && opts->threads <= 1;
    s->stops = opts->by_account && opts->threads > 1;
    s->before_bell_ctx = opts->before_bell_ctx;
    s->after_bell = opts->after_bell;
    s->after_bell_ctx = opts->after_bell_ctx;
    if (!launch(s, opts, err)) {
        launch_release(s);
        return false;
    }
    s->sleeps = s->by_account || (s->stops && s->yields);
    /* While the child shuts itself in. */
    for (size_t i = 0; i < s->buffer_count; i++)
        os_populate(s->buffers[i].host, s->buffers[i].bytes);
    return true;
}

bool cpu_session_give(struct session *session, const void *image, size_t bytes, struct err *err)
{
    struct cpu_session *s = (struct cpu_session *)session;
    s->is_given = launch_give_image(s, image, bytes, err);
    return s->is_given;
}

bool cpu_session_load(struct session *session, const void *image, size_t bytes,
                      struct session_report *report, struct err *err)
{
    struct cpu_session *s = (struct cpu_session *)session;
    bool done = (s->is_given || cpu_session_give(session, image, bytes, err)) &&
                wait_for_box(s, report, err);
    if (done && report->status == SESSION_OK) {
        cpu_note_missing_layers(s->base.target, s->control->missing_layers);
        s->image_at = s->control->image_address;
        for (size_t i = 0; i < s->buffer_count; i++)
            s->buffers[i].child_address = s->control->buffer_address[i];
        done = s->is_untimed ? use_last_calibration(s) : calibrate(s, report, err);
    }
    if (!done || report->status != SESSION_OK) {
        if (done)
            keep_start_evidence(s, report);
        launch_release(s);
    }
    return done;
}

bool cpu_session_start(struct session *session, const struct session_opts *opts,
                       struct session_report *report, struct err *err)
{
    return cpu_session_prepare(session, opts, err) &&
           cpu_session_load(session, opts->image, opts->image_bytes, report, err);
}

static bool signal_child(struct cpu_session *s, int number, struct err *err)
{
    int wait_status = 0;
    if (s->pid == 0)
        return true;
    if (kill(s->pid, number) != 0)
        return err_set(err, ERR_IO, "cannot signal the child");
    if (number != SIGSTOP)
        return true;
    if (waitpid(s->pid, &wait_status, WUNTRACED) == s->pid && !WIFSTOPPED(wait_status))
        s->pid = 0; /* it died instead: nothing changes any more either */
    return true;
}

/* The child reads them at each call; what it may have written there itself is replaced. */
void cpu_session_set_ints(struct session *session, const int64_t *ints, size_t count)
{
    struct cpu_session *s = (struct cpu_session *)session;
    if (count > RUNNER_MAX_INTS)
        BUG("%zu integers in a call", count);
    memcpy(s->control->config.ints, ints, count * sizeof *ints);
}

bool cpu_session_freeze(struct session *session, struct err *err)
{
    return signal_child((struct cpu_session *)session, SIGSTOP, err);
}

bool cpu_session_thaw(struct session *session, struct err *err)
{
    struct cpu_session *s = (struct cpu_session *)session;
    return signal_child(s, SIGCONT, err);
}

void cpu_session_end(struct session *session)
{
    launch_end((struct cpu_session *)session);
}

void cpu_session_stop(struct session *session)
{
    launch_release((struct cpu_session *)session);
}

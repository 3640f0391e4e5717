/*
 * All runs of a suite, in order of seeds, arms and tasks; with several jobs, as many at a time as
 * do not need each other. A run needs those that its memory is filled from, and where measurements
 * are reused the one before it on the same task: it takes the verdicts of all of them, and they of
 * those before. So each finds what it would have found had all gone one after the other.
 */
#include "suite/internal.h"

#include "base/str.h"
#include "os/os.h"
#include "os/worker.h"
#include "target/target.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOBS = 1024 };
#define LOOK_NS INT64_C(200000000) /* how often it is seen that the user wants to stop */

enum job_state { JOB_WAITS, JOB_RUNS, JOB_IS_DONE };

/* What a worker tells. */
struct report {
    bool ok;
    struct suite_outcome outcome;
    struct err err; /* where not ok */
};
static_assert(sizeof(struct report) <= OS_WORKER_REPORT_BYTES, "a worker tells all of it");

/* A place for a run that goes on. */
struct slot {
    struct suite_job job;
    int64_t start_ns;
    int cpu;
};

struct schedule {
    struct suite *suite;
    unsigned char *states; /* enum job_state, by number of the job */
    size_t count, first;   /* all before it are done */
    size_t jobs, running;
    struct slot *slots;
    struct os_worker *workers; /* by slot */
    bool is_stopping;          /* no more is begun, and the workers have been told */
    bool has_failed;
    struct err err; /* the first */
};

/* --- the order -------------------------------------------------------------------------------- */

static struct suite_job job_of(const struct suite *suite, size_t number)
{
    const size_t of_seed = suite->plan.arm_count * suite->task_count;
    return (struct suite_job){.seed = suite->first_seed + (int64_t)(number / of_seed),
                              .arm = number % of_seed / suite->task_count,
                              .task = number % suite->task_count};
}

static size_t number_of(const struct suite *suite, const struct suite_job *job)
{
    const size_t seed = (size_t)(job->seed - suite->first_seed);
    return (seed * suite->plan.arm_count + job->arm) * suite->task_count + job->task;
}

static size_t arm_named(const struct suite *suite, const char *name)
{
    size_t arm = 0;
    while (!str_equal(suite->plan.arms[arm].name, name))
        arm++;
    return arm;
}

/* Are the runs over whose memory this one begins with? */
static bool has_sources(const struct schedule *s, size_t number)
{
    const struct suite *suite = s->suite;
    struct suite_job job = job_of(suite, number);
    const struct suite_arm *arm = &suite->plan.arms[job.arm];
    const size_t task = job.task;
    if (arm->memory != SUITE_ON)
        return true;
    if (arm->leave_out == SUITE_NOTHING)
        return task == 0 || s->states[number - 1] == JOB_IS_DONE;
    job.arm = arm_named(suite, arm->from);
    for (job.task = 0; job.task < suite->task_count; job.task++) {
        if (suite_remembers(suite, arm, task, job.task) &&
            s->states[number_of(suite, &job)] != JOB_IS_DONE)
            return false;
    }
    return true;
}

static bool has_record(const struct schedule *s, size_t number)
{
    return !s->suite->plan.is_reused || number < s->suite->task_count ||
           s->states[number - s->suite->task_count] == JOB_IS_DONE;
}

/* The first that can be begun now. */
static bool next_job(struct schedule *s, size_t *out)
{
    while (s->first < s->count && s->states[s->first] == JOB_IS_DONE)
        s->first++;
    for (size_t i = s->first; i < s->count; i++) {
        if (s->states[i] == JOB_WAITS && has_record(s, i) && has_sources(s, i)) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* --- what is told ----------------------------------------------------------------------------- */

static void tell(const struct suite *suite, const char *text)
{
    const struct progress progress = {.kind = PROGRESS_STAGE, .text = text};
    if (suite->observer && suite->observer->on_progress)
        suite->observer->on_progress(suite->observer->context, &progress);
}

/* By what the runs of each arm took so far; an arm that has not run yet counts as the others; and
 * by how many went on at a time. */
static double seconds_left(const struct schedule *s)
{
    const struct suite *suite = s->suite;
    const int64_t now_ns = os_now_ns();
    double seconds = 0.0, left = 0.0, under_way = 0.0;
    int64_t runs = 0;
    const int64_t each = suite->seeds * (int64_t)suite->task_count;
    for (size_t a = 0; a < suite->plan.arm_count; a++) {
        seconds += suite->arm_seconds[a];
        runs += suite->arm_runs[a];
    }
    for (size_t a = 0; a < suite->plan.arm_count; a++) {
        int64_t done = 0;
        for (size_t i = 0; i < suite->results.count; i++)
            done += str_equal(suite->results.items[i].arm, suite->plan.arms[a].name) &&
                    suite->results.items[i].seed >= suite->first_seed &&
                    suite->results.items[i].seed < suite->first_seed + suite->seeds;
        const double mean = suite->arm_runs[a] > 0
                                ? suite->arm_seconds[a] / (double)suite->arm_runs[a]
                                : seconds / fmax(1.0, (double)runs);
        left += mean * fmax(0.0, (double)(each - done));
    }
    for (size_t i = 0; i < s->jobs; i++) {
        if (s->workers[i].pid > 0)
            under_way += (double)(now_ns - s->slots[i].start_ns) * 1e-9;
    }
    const double wall = (double)(now_ns - suite->start_ns) * 1e-9;
    const double at_a_time = fmax(1.0, (seconds + under_way) / fmax(1e-9, wall));
    return fmax(0.0, left - under_way) / at_a_time;
}

static void tell_progress(const struct schedule *s, const struct suite_job *job)
{
    const struct suite *suite = s->suite;
    const struct suite_result *r = &suite->results.items[suite->results.count - 1];
    const double left = seconds_left(s);
    const char *speedup =
        r->has_win ? arena_printf(suite->arena, "%.2fx", exp(r->log_ratio)) : "no gain";
    tell(suite, arena_printf(suite->arena,
                             "%lld/%lld  %s, %s, seed %lld: %s in %lld candidates, %.0f s  "
                             "[%dm%02ds left]",
                             (long long)suite->progress.done, (long long)suite->progress.runs,
                             r->arm, suite->tasks[job->task].name, (long long)job->seed, speedup,
                             (long long)r->evaluations, r->seconds, (int)(left / 60.0),
                             (int)fmod(left, 60.0)));
}

/* --- a run ------------------------------------------------------------------------------------ */

static bool is_time_up(const struct suite *suite)
{
    return suite->opts->minutes > 0 &&
           os_now_ns() - suite->start_ns >= suite->opts->minutes * INT64_C(60000000000);
}

/* The others keep what they have, and are gone on with the next time. */
static void stop(struct schedule *s)
{
    if (s->is_stopping)
        return;
    s->is_stopping = true;
    for (size_t i = 0; i < s->jobs; i++)
        os_worker_stop(&s->workers[i]);
}

static void fail(struct schedule *s, const struct suite_job *job, struct err *err)
{
    if (!s->has_failed && err->kind != ERR_INTERRUPTED) {
        s->has_failed = true;
        s->err = *err;
        (void)err_within(&s->err, "arm '%s', task '%s', seed %lld",
                         s->suite->plan.arms[job->arm].name, s->suite->tasks[job->task].name,
                         (long long)job->seed);
    }
    stop(s);
}

/* What a run came to, told by whoever ran it. */
static void take(struct schedule *s, const struct slot *slot, struct report *report)
{
    struct suite *suite = s->suite;
    const struct suite_job *job = &slot->job;
    const size_t number = number_of(suite, job);
    suite->progress.resumed += report->outcome.resumed;
    s->states[number] = JOB_WAITS;
    if (!report->ok) {
        fail(s, job, &report->err);
        return;
    }
    if (!report->outcome.ended) {
        stop(s);
        return;
    }
    if (!suite_keep_job(suite, job, &report->err)) {
        fail(s, job, &report->err);
        return;
    }
    s->states[number] = JOB_IS_DONE;
    suite->arm_seconds[job->arm] += (double)(os_now_ns() - slot->start_ns) * 1e-9;
    suite->arm_runs[job->arm]++;
    suite->progress.done++;
    tell_progress(s, job);
}

/* --- one at a time ---------------------------------------------------------------------------- */

static void run_in_turn(struct schedule *s)
{
    size_t number;
    while (!s->is_stopping && !os_interrupted() && !is_time_up(s->suite) && next_job(s, &number)) {
        const struct slot slot = {.job = job_of(s->suite, number), .start_ns = os_now_ns()};
        struct report report = {0};
        report.ok = suite_run_job(s->suite, &slot.job, &report.outcome, &report.err);
        take(s, &slot, &report);
    }
}

/* --- several at a time ------------------------------------------------------------------------ */

struct assignment {
    struct suite *suite;
    const struct suite_job *job;
};

static void work(void *context, void *report)
{
    const struct assignment *assignment = context;
    struct report *out = report;
    out->ok = suite_run_job(assignment->suite, assignment->job, &out->outcome, &out->err);
}

static bool begin(struct schedule *s, size_t number, struct err *err)
{
    size_t at = 0;
    while (s->workers[at].pid > 0)
        at++;
    struct slot *slot = &s->slots[at];
    slot->job = job_of(s->suite, number);
    slot->start_ns = os_now_ns();
    struct assignment assignment = {.suite = s->suite, .job = &slot->job};
    const struct os_work todo = {.run = work,
                                 .context = &assignment,
                                 .report_bytes = sizeof(struct report),
                                 .cpu = slot->cpu};
    if (!os_worker_start(&todo, &s->workers[at], err))
        return false;
    s->states[number] = JOB_RUNS;
    s->running++;
    return true;
}

static void begin_what_can(struct schedule *s)
{
    size_t number;
    while (!s->is_stopping && s->running < s->jobs && !is_time_up(s->suite) &&
           next_job(s, &number)) {
        struct err err = {0};
        const struct suite_job job = job_of(s->suite, number);
        if (!begin(s, number, &err))
            fail(s, &job, &err);
    }
}

static void take_one_that_ended(struct schedule *s)
{
    size_t at;
    struct report report = {0};
    if (!os_worker_wait(s->workers, s->jobs, LOOK_NS, &at))
        return;
    if (!os_worker_finish(&s->workers[at], &report, sizeof report, &report.err)) {
        if (report.err.hint[0] == '\0')
            (void)err_hint(&report.err,
                           "what it had judged is kept: run the suite again, it goes on");
        report.ok = false;
    }
    s->running--;
    take(s, &s->slots[at], &report);
}

static void run_at_once(struct schedule *s)
{
    for (;;) {
        if (os_interrupted())
            stop(s);
        begin_what_can(s);
        if (s->running == 0)
            return;
        take_one_that_ended(s);
    }
}

/* The machine is measured once, before anything else runs on it. */
static bool prepare_workers(struct schedule *s, struct err *err)
{
    const struct suite *suite = s->suite;
    CLEANUP(target_close) struct target *target = NULL;
    const char *name = suite->opts->target ? suite->opts->target : "cpu";
    int cpus[MOST_JOBS];
    const size_t count = os_cpus_by_core(cpus, MOST_JOBS, suite->arena);
    for (size_t i = 0; i < suite->task_count; i++) {
        if (suite->tasks[i].threads > 1) {
            (void)err_set(err, ERR_USAGE,
                          "task '%s' uses %lld threads, and a job has one processor",
                          suite->tasks[i].name, (long long)suite->tasks[i].threads);
            return err_hint(err, "run it without --jobs; --tasks leaves it out");
        }
    }
    if (!target_open(name, suite_targets_dir(suite), &target, err))
        return false;
    if (s->jobs > count && !target_is_scripted(target)) {
        (void)err_set(err, ERR_USAGE, "%zu jobs, but this process may use %zu processors only",
                      s->jobs, count);
        return err_hint(err, "each run needs one of its own: --jobs %zu at most", count);
    }
    tell(suite, "measuring the machine (kept for later runs)");
    if (!target_probe(target, false, err))
        return false;
    for (size_t i = 0; i < s->jobs; i++)
        s->slots[i].cpu = count > 0 ? cpus[i % count] : -1;
    return true;
}

bool suite_run_all(struct suite *suite, struct err *err)
{
    struct schedule s = {.suite = suite,
                         .count = (size_t)suite->progress.runs,
                         .jobs = suite->opts->jobs > 0 ? (size_t)suite->opts->jobs : 1};
    if (s.jobs > MOST_JOBS)
        return err_set(err, ERR_USAGE, "at most %d jobs", MOST_JOBS);
    s.states = arena_array(suite->arena, s.count + 1, sizeof *s.states);
    s.slots = arena_array(suite->arena, s.jobs, sizeof *s.slots);
    s.workers = arena_array(suite->arena, s.jobs, sizeof *s.workers);
    for (size_t i = 0; i < s.count; i++) {
        const struct suite_job job = job_of(suite, i);
        s.states[i] = results_find(&suite->results, suite->plan.arms[job.arm].name,
                                   suite->tasks[job.task].name, job.seed)
                          ? JOB_IS_DONE
                          : JOB_WAITS;
        suite->progress.done_before += s.states[i] == JOB_IS_DONE;
    }
    suite->progress.done = suite->progress.done_before;
    if (s.jobs > 1 && suite->progress.done < suite->progress.runs && !prepare_workers(&s, err))
        return false;
    if (s.jobs > 1)
        run_at_once(&s);
    else
        run_in_turn(&s);
    if (s.has_failed)
        *err = s.err;
    suite->progress.is_interrupted = suite->progress.done < suite->progress.runs;
    return !s.has_failed;
}

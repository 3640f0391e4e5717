#include "suite/internal.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "task/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what there is to do ---------------------------------------------------------------------- */

/* Is that one of the names with commas between? */
static bool is_named(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; at;) {
        const char *comma = strchr(at, ',');
        const size_t here = comma ? (size_t)(comma - at) : strlen(at);
        if (here == length && strncmp(at, name, length) == 0)
            return true;
        at = comma ? comma + 1 : NULL;
    }
    return false;
}

static bool check_named(const struct suite *suite, const char *names, struct err *err)
{
    char *rest = arena_strdup(suite->arena, names);
    while (rest) {
        char *comma = strchr(rest, ',');
        bool found = false;
        if (comma)
            *comma++ = '\0';
        for (size_t i = 0; i < suite->task_count; i++)
            found = found || str_equal(suite->tasks[i].name, rest);
        if (!found)
            return err_set(err, ERR_NOT_FOUND, "there is no task '%s' in '%s'", rest,
                           suite->opts->dir);
        rest = comma;
    }
    return true;
}

/* All tasks are read before anything runs: mistakes in them are found now. */
static bool find_tasks(struct suite *suite, struct err *err)
{
    char **names = NULL;
    size_t count = 0;
    const char *wanted = suite->opts->tasks;
    if (!os_list_dir(suite->opts->dir, suite->arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct task *task = NULL;
        const char *dir = os_path_join(suite->arena, suite->opts->dir, names[i]);
        if (!os_path_exists(os_path_join(suite->arena, dir, "task.yaml")) ||
            (wanted && !is_named(wanted, names[i])))
            continue;
        if (suite->task_count == SUITE_MAX_TASKS)
            return err_set(err, ERR_LIMIT, "a suite has at most %d tasks", SUITE_MAX_TASKS);
        if (!task_load(dir, suite->arena, &task, err))
            return false;
        suite->tasks[suite->task_count++] = (struct suite_task){
            .name = names[i], .dir = dir, .family = task->family, .id = task->id.text};
    }
    if (wanted)
        return check_named(suite, wanted, err);
    if (suite->task_count > 0)
        return true;
    (void)err_set(err, ERR_NOT_FOUND, "there is no task in '%s'", suite->opts->dir);
    return err_hint(err, "a suite is a folder of folders with task.yaml and reference.c");
}

static bool check_frozen(const struct suite *suite, struct err *err)
{
    for (size_t i = 0; i < suite->plan.arm_count; i++) {
        const struct suite_arm *arm = &suite->plan.arms[i];
        if (arm->memory == SUITE_FROZEN &&
            !os_path_is_dir(os_path_join(suite->arena, arm->from, "journal")))
            return err_set(err, ERR_BAD_INPUT, "%s: there is no memory at '%s'", arm->place,
                           arm->from);
    }
    return true;
}

/* A folder of results belongs to one file of arms and one set of tasks: what an arm knows depends
 * on both. */
static bool keep_text(const struct suite *suite, const char *name, const char *text,
                      const char *what, struct err *err)
{
    const char *path = os_path_join(suite->arena, suite->opts->results, name);
    char *kept = NULL;
    if (!os_path_exists(path))
        return os_write_file(path, text, strlen(text), true, err);
    if (!os_read_file(path, strlen(text) + 1, suite->arena, &kept, NULL, err) &&
        err->kind != ERR_LIMIT)
        return false;
    if (kept && str_equal(kept, text))
        return true;
    (void)err_set(err, ERR_USAGE, "the results in '%s' are of other %s", suite->opts->results,
                  what);
    return err_hint(err, "name another folder with --results; what those are of stands in %s",
                    path);
}

static bool keep_plan(const struct suite *suite, struct err *err)
{
    CLEANUP(buf_free) struct buf tasks = {0};
    for (size_t i = 0; i < suite->task_count; i++)
        (void)buf_printf(&tasks, "%s %s\n", suite->tasks[i].id, suite->tasks[i].name);
    return os_make_dirs(suite->opts->results, err) &&
           keep_text(suite, "arms.yaml", suite->plan.text, "arms", err) &&
           keep_text(suite, "tasks", buf_text(&tasks), "tasks, or of tasks as they were", err);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* By what the runs of each arm took so far; an arm that has not run yet counts as the others. */
static double seconds_left(const struct suite *suite)
{
    double seconds = 0.0, left = 0.0;
    int64_t runs = 0;
    const int64_t each = suite->seeds * (int64_t)suite->task_count;
    for (size_t a = 0; a < suite->plan.arm_count; a++) {
        seconds += suite->arm_seconds[a];
        runs += suite->arm_runs[a];
    }
    for (size_t a = 0; a < suite->plan.arm_count; a++) {
        int64_t done = 0;
        for (size_t i = 0; i < suite->results.count; i++)
            done += str_equal(suite->results.items[i].arm, suite->plan.arms[a].name);
        const double mean = suite->arm_runs[a] > 0
                                ? suite->arm_seconds[a] / (double)suite->arm_runs[a]
                                : seconds / fmax(1.0, (double)runs);
        left += mean * fmax(0.0, (double)(each - done));
    }
    return left;
}

static void tell_progress(const struct suite *suite, const struct suite_job *job)
{
    const struct suite_result *r = &suite->results.items[suite->results.count - 1];
    const double left = seconds_left(suite);
    const char *speedup =
        r->has_win ? arena_printf(suite->arena, "%.2fx", exp(r->log_ratio)) : "no gain";
    const struct progress progress = {
        .kind = PROGRESS_STAGE,
        .text = arena_printf(suite->arena,
                             "%lld/%lld  %s, %s, seed %lld: %s in %lld candidates, %.0f s  "
                             "[%dm%02ds left]",
                             (long long)suite->progress.done, (long long)suite->progress.runs,
                             r->arm, suite->tasks[job->task].name, (long long)job->seed, speedup,
                             (long long)r->evaluations, r->seconds, (int)(left / 60.0),
                             (int)fmod(left, 60.0))};
    if (suite->observer && suite->observer->on_progress)
        suite->observer->on_progress(suite->observer->context, &progress);
}

static bool is_time_up(const struct suite *suite)
{
    return suite->opts->minutes > 0 &&
           os_now_ns() - suite->start_ns >= suite->opts->minutes * INT64_C(60000000000);
}

static bool run_all(struct suite *suite, struct err *err)
{
    struct suite_job job;
    for (job.seed = 1; job.seed <= suite->seeds; job.seed++) {
        for (job.arm = 0; job.arm < suite->plan.arm_count; job.arm++) {
            for (job.task = 0; job.task < suite->task_count; job.task++) {
                const char *arm = suite->plan.arms[job.arm].name;
                const char *task = suite->tasks[job.task].name;
                const int64_t start_ns = os_now_ns();
                bool ended = false;
                if (results_find(&suite->results, arm, task, job.seed))
                    continue;
                if (!is_time_up(suite) && !os_interrupted() &&
                    !suite_run_job(suite, &job, &ended, err) && err->kind != ERR_INTERRUPTED)
                    return err_within(err, "arm '%s', task '%s', seed %lld", arm, task,
                                      (long long)job.seed);
                if (!ended) {
                    suite->progress.is_interrupted = true;
                    return true;
                }
                suite->arm_seconds[job.arm] += (double)(os_now_ns() - start_ns) * 1e-9;
                suite->arm_runs[job.arm]++;
                suite->progress.done++;
                tell_progress(suite, &job);
            }
        }
    }
    return true;
}

/* Runs that are there already and belong to what is asked for. */
static void count_before(struct suite *suite)
{
    suite->progress.runs =
        suite->seeds * (int64_t)suite->task_count * (int64_t)suite->plan.arm_count;
    for (int64_t seed = 1; seed <= suite->seeds; seed++) {
        for (size_t a = 0; a < suite->plan.arm_count; a++) {
            for (size_t t = 0; t < suite->task_count; t++)
                suite->progress.done_before +=
                    results_find(&suite->results, suite->plan.arms[a].name, suite->tasks[t].name,
                                 seed) != NULL;
        }
    }
    suite->progress.done = suite->progress.done_before;
}

static bool open_and_run(struct suite *suite, struct err *err)
{
    CLEANUP(os_close) int lock = -1;
    const struct suite_opts *opts = suite->opts;
    if (!suite_read_arms(opts->arms, suite->arena, &suite->plan, err) || !find_tasks(suite, err) ||
        !check_frozen(suite, err) || !keep_plan(suite, err) ||
        !os_lock_file(os_path_join(suite->arena, opts->results, "lock"), &lock, err) ||
        !results_read(opts->results, suite->arena, &suite->results, err))
        return false;
    count_before(suite);
    return run_all(suite, err);
}

bool suite_run(const struct suite_opts *opts, const struct observer *observer, struct arena *arena,
               struct suite_progress *out, struct err *err)
{
    struct suite *suite = arena_alloc(arena, sizeof *suite);
    suite->opts = opts;
    suite->observer = observer;
    suite->arena = arena;
    suite->start_ns = os_now_ns();
    suite->seeds = opts->seeds > 0 ? opts->seeds : 1;
    if (suite->seeds > SUITE_MAX_SEEDS)
        return err_set(err, ERR_USAGE, "a suite has at most %d seeds", SUITE_MAX_SEEDS);
    if (!open_and_run(suite, err))
        return false;
    *out = suite->progress;
    return true;
}

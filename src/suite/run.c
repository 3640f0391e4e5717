#include "suite/internal.h"

#include "base/str.h"
#include "graph/graph.h"
#include "journal/journal.h"
#include "os/file.h"
#include "os/os.h"
#include "task/task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What stands in a memory that is ready for its run: the last run that it was given, or this. */
static const char no_run[] = "none";
enum { MAX_MARK_BYTES = 128 };

struct suite_task {
    const char *name, *dir, *family, *id;
};

struct suite {
    const struct suite_opts *opts;
    const struct observer *observer;
    struct arena *arena;
    struct suite_plan plan;
    struct suite_task tasks[SUITE_MAX_TASKS];
    size_t task_count;
    int64_t seeds, start_ns;
    struct suite_results results;
    struct suite_progress progress;
    /* Of this process, for the time that is left. */
    double arm_seconds[SUITE_MAX_ARMS];
    int64_t arm_runs[SUITE_MAX_ARMS];
};

struct job {
    size_t arm, task;
    int64_t seed;
};

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

/* --- the memory of a run ---------------------------------------------------------------------- */

static const char *memory_of(const struct suite *suite, const char *arm, int64_t seed, size_t task)
{
    return arena_printf(suite->arena, "%s/memory/%s/%lld/%s", suite->opts->results, arm,
                        (long long)seed, suite->tasks[task].name);
}

/* Folders of what a run may know, ended by NULL. */
static const char *const *sources_of(const struct suite *suite, const struct job *job)
{
    const struct suite_arm *arm = &suite->plan.arms[job->arm];
    const char **sources = arena_array(suite->arena, suite->task_count + 2, sizeof *sources);
    size_t count = 0;
    if (arm->memory == SUITE_FROZEN)
        sources[count++] = arm->from;
    if (arm->memory != SUITE_ON)
        return sources;
    if (arm->leave_out == SUITE_NOTHING) {
        if (job->task > 0)
            sources[count++] = memory_of(suite, arm->name, job->seed, job->task - 1);
        return sources;
    }
    for (size_t i = 0; i < suite->task_count; i++) {
        const bool is_kin = str_equal(suite->tasks[i].family, suite->tasks[job->task].family);
        if (i != job->task && !(arm->leave_out == SUITE_FAMILY && is_kin))
            sources[count++] = memory_of(suite, arm->from, job->seed, i);
    }
    return sources;
}

static bool last_run(struct graph *graph, struct arena *arena, struct graph_run *out, bool *found,
                     struct err *err)
{
    *found = graph_find_run(graph, "last", arena, out, err);
    return *found || err->kind == ERR_NOT_FOUND;
}

/* All memories of a suite share what is measured of the machine. */
static bool share_targets(const struct suite *suite, const char *memory, struct err *err)
{
    char *results = NULL;
    const char *targets = os_path_join(suite->arena, suite->opts->results, "targets");
    if (!os_make_dirs(targets, err) ||
        !os_path_real(suite->opts->results, suite->arena, &results, err))
        return false;
    const char *link = os_path_join(suite->arena, memory, "targets");
    return symlink(os_path_join(suite->arena, results, "targets"), link) == 0 || errno == EEXIST ||
           err_set_errno(err, errno, "cannot link '%s'", link);
}

static bool fill_memory(const struct suite *suite, const struct job *job, const char *dir,
                        struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct graph_run last;
    bool found = false;
    if (!os_remove_tree(dir, err) || !os_make_dirs(dir, err) || !share_targets(suite, dir, err) ||
        !memory_open(dir, true, suite->arena, &memory, err))
        return false;
    for (const char *const *source = sources_of(suite, job); *source; source++) {
        struct journal_merged merged;
        if (!journal_merge(memory.journal, *source, &merged, err))
            return false;
    }
    if (!graph_catch_up(memory.graph, memory.journal, NULL, err) ||
        !last_run(memory.graph, suite->arena, &last, &found, err))
        return false;
    const char *mark = found ? last.id : no_run;
    return os_write_file(os_path_join(suite->arena, dir, "begin"), mark, strlen(mark), true, err);
}

/* The run that was begun in a memory, if there is one; the memory is filled first where it is not.
 */
static bool find_own_run(const struct suite *suite, const struct job *job, const char *dir,
                         bool *found, struct graph_run *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    const char *mark_path = os_path_join(suite->arena, dir, "begin");
    char *mark = NULL;
    *found = false;
    if (!os_path_exists(mark_path))
        return fill_memory(suite, job, dir, err);
    if (!os_read_file(mark_path, MAX_MARK_BYTES, suite->arena, &mark, NULL, err) ||
        !memory_open(dir, false, suite->arena, &memory, err) ||
        !last_run(memory.graph, suite->arena, out, found, err))
        return false;
    *found = *found && !str_equal(out->id, mark);
    return true;
}

/* --- one run ---------------------------------------------------------------------------------- */

static bool has_ended(const struct graph_run *run)
{
    return run->has_ended && !str_equal(run->end_reason, "interrupted") &&
           !str_starts_with(run->end_reason, "error:");
}

/* Memories of the runs of the same task, ended by NULL. */
static const char *const *records_of(const struct suite *suite, const struct job *job)
{
    const char **records = arena_array(suite->arena, suite->results.count + 1, sizeof *records);
    size_t count = 0;
    for (size_t i = 0; i < suite->results.count; i++) {
        const struct suite_result *r = &suite->results.items[i];
        const char *dir = memory_of(suite, r->arm, r->seed, job->task);
        if (str_equal(r->task, suite->tasks[job->task].name) &&
            os_path_is_dir(os_path_join(suite->arena, dir, "journal")))
            records[count++] = dir;
    }
    return records;
}

static bool optimize(const struct suite *suite, const struct job *job, const char *memory,
                     struct arena *arena, struct optimize_result *out, struct err *err)
{
    const struct suite_arm *arm = &suite->plan.arms[job->arm];
    const struct optimize_opts opts = {
        .task_path = suite->tasks[job->task].dir,
        .memory_dir = memory,
        .target = suite->opts->target,
        .policy = arm->policy,
        .proposer = arm->proposer,
        .model = arm->model,
        .config = suite->opts->config,
        .budget = suite->plan.candidates > 0 ? suite->plan.candidates : INT32_MAX,
        .time_limit_ns = suite->plan.seconds * INT64_C(1000000000),
        .token_budget = suite->plan.tokens,
        .passive = arm->passive,
        .seed = (uint64_t)job->seed,
        .has_seed = true,
        .records = suite->plan.is_reused ? records_of(suite, job) : NULL,
        .case_ns = suite->plan.case_ms * INT64_C(1000000),
        .half_width = suite->plan.half_width,
        .confirm_ns = suite->plan.confirm_ms * INT64_C(1000000),
    };
    return engine_optimize(&opts, NULL, arena, out, err);
}

static bool count_tokens(struct graph *graph, const char *run_id,
                         const struct graph_decisions *decisions, struct arena *arena, int64_t *out,
                         struct err *err)
{
    const struct graph_exchange *exchanges = NULL;
    size_t count = 0;
    if (!graph_exchanges(graph, run_id, arena, &exchanges, &count, err))
        return false;
    *out = 0;
    for (size_t i = 0; i < count; i++)
        *out += exchanges[i].tokens_in + exchanges[i].tokens_out + exchanges[i].tokens_lost;
    for (size_t i = 0; i < decisions->count; i++) {
        if (decisions->items[i].exchange_id[0] == '\0')
            *out += decisions->items[i].tokens_in + decisions->items[i].tokens_out;
    }
    return true;
}

/* What a run came to, from its memory: so it does not matter which process ran it. */
static bool take_result(const struct suite *suite, const struct job *job, const char *dir,
                        struct suite_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct arena *arena = suite->arena;
    struct graph_run run;
    struct graph_decisions decisions;
    if (!memory_open(dir, false, arena, &memory, err) ||
        !graph_find_run(memory.graph, "last", arena, &run, err) ||
        !graph_run_decisions(memory.graph, run.id, arena, &decisions, err))
        return false;
    double *curve = arena_array(arena, decisions.count + 1, sizeof *curve);
    double best = 0.0;
    struct suite_result result = {.arm = suite->plan.arms[job->arm].name,
                                  .task = suite->tasks[job->task].name,
                                  .family = suite->tasks[job->task].family,
                                  .seed = job->seed,
                                  .run_id = run.id,
                                  .end_reason = run.end_reason,
                                  .seconds = (double)run.run_ns * 1e-9,
                                  .has_win = run.best_decision[0] != '\0',
                                  .curve = curve};
    for (size_t i = 0; i < decisions.count; i++) {
        const struct graph_decision *d = &decisions.items[i];
        if (!d->has_outcome)
            continue;
        if (d->kind == VERDICT_TIMED && d->is_win && !d->confirm_failed)
            best = fmax(best, d->log_ratio);
        curve[result.evaluations++] = best;
    }
    result.log_ratio = result.has_win ? run.best_log_ratio : 0.0;
    *out = result;
    return count_tokens(memory.graph, run.id, &decisions, arena, &out->tokens, err);
}

static bool run_job(struct suite *suite, const struct job *job, bool *ended, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *dir = memory_of(suite, suite->plan.arms[job->arm].name, job->seed, job->task);
    struct optimize_result result = {.end_reason = ""};
    struct suite_result kept;
    struct graph_run own;
    bool found = false;
    *ended = false;
    if (!find_own_run(suite, job, dir, &found, &own, err))
        return false;
    if (found && !has_ended(&own)) {
        suite->progress.resumed++;
        if (!engine_resume(own.id, dir, NULL, &arena, &result, err))
            return false;
    } else if (!found && !optimize(suite, job, dir, &arena, &result, err)) {
        return false;
    }
    if (str_equal(result.end_reason, "interrupted"))
        return true;
    if (str_starts_with(result.end_reason, "error:"))
        return err_set(err, ERR_NETWORK, "the run ended with %s", result.end_reason);
    *ended = true;
    return take_result(suite, job, dir, &kept, err) &&
           results_add(suite->opts->results, &suite->results, &kept, suite->arena, err);
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

static void tell_progress(const struct suite *suite, const struct job *job)
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
    struct job job;
    for (job.seed = 1; job.seed <= suite->seeds; job.seed++) {
        for (job.arm = 0; job.arm < suite->plan.arm_count; job.arm++) {
            for (job.task = 0; job.task < suite->task_count; job.task++) {
                const char *arm = suite->plan.arms[job.arm].name;
                const char *task = suite->tasks[job.task].name;
                const int64_t start_ns = os_now_ns();
                bool ended = false;
                if (results_find(&suite->results, arm, task, job.seed))
                    continue;
                if (!is_time_up(suite) && !os_interrupted() && !run_job(suite, &job, &ended, err) &&
                    err->kind != ERR_INTERRUPTED)
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

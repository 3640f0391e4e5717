/* One run of a suite: what it may know, the run itself, and what it came to. */
#include "suite/internal.h"

#include "base/str.h"
#include "graph/graph.h"
#include "journal/journal.h"
#include "os/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What stands in a memory that is ready for its run: the last run that it was given, or this. */
static const char no_run[] = "none";
enum { MAX_MARK_BYTES = 128 };

/* --- the memory of a run ---------------------------------------------------------------------- */

static const char *memory_of(const struct suite *suite, const char *arm, int64_t seed, size_t task)
{
    return arena_printf(suite->arena, "%s/memory/%s/%lld/%s", suite->opts->results, arm,
                        (long long)seed, suite->tasks[task].name);
}

bool suite_remembers(const struct suite *suite, const struct suite_arm *arm, size_t task,
                     size_t other)
{
    const bool is_kin = str_equal(suite->tasks[other].family, suite->tasks[task].family);
    return other != task && !(arm->leave_out == SUITE_FAMILY && is_kin);
}

/* Folders of what a run may know, ended by NULL. */
static const char *const *sources_of(const struct suite *suite, const struct suite_job *job)
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
        if (suite_remembers(suite, arm, job->task, i))
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

const char *suite_targets_dir(const struct suite *suite)
{
    return os_path_join(suite->arena, suite->opts->results, "targets");
}

static bool share_targets(const struct suite *suite, const char *memory, struct err *err)
{
    char *results = NULL;
    const char *targets = suite_targets_dir(suite);
    if (!os_make_dirs(targets, err) ||
        !os_path_real(suite->opts->results, suite->arena, &results, err))
        return false;
    const char *link = os_path_join(suite->arena, memory, "targets");
    return symlink(os_path_join(suite->arena, results, "targets"), link) == 0 || errno == EEXIST ||
           err_set_errno(err, errno, "cannot link '%s'", link);
}

static bool fill_memory(const struct suite *suite, const struct suite_job *job, const char *dir,
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
static bool find_own_run(const struct suite *suite, const struct suite_job *job, const char *dir,
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
static const char *const *records_of(const struct suite *suite, const struct suite_job *job)
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

static struct optimize_opts opts_of(const struct suite *suite, const struct suite_job *job,
                                    const char *memory)
{
    const struct suite_arm *arm = &suite->plan.arms[job->arm];
    return (struct optimize_opts){
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
        .use_findings = arm->use_findings,
        .seed = (uint64_t)job->seed,
        .has_seed = true,
        .records = suite->plan.is_reused ? records_of(suite, job) : NULL,
        .case_ns = suite->plan.case_ms * INT64_C(1000000),
        .half_width = suite->plan.half_width,
        .confirm_ns = suite->plan.confirm_ms * INT64_C(1000000),
    };
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
static bool take_result(const struct suite *suite, const struct suite_job *job, const char *dir,
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
        if (!d->has_outcome || !verdict_is_evaluation(d->mechanism))
            continue;
        if (d->kind == VERDICT_TIMED && d->is_win && !d->confirm_failed)
            best = fmax(best, d->log_ratio);
        curve[result.evaluations++] = best;
    }
    result.log_ratio = result.has_win ? run.best_log_ratio : 0.0;
    *out = result;
    return count_tokens(memory.graph, run.id, &decisions, arena, &out->tokens, err);
}

bool suite_run_job(struct suite *suite, const struct suite_job *job, struct suite_outcome *out,
                   struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *dir = memory_of(suite, suite->plan.arms[job->arm].name, job->seed, job->task);
    struct optimize_result result = {.end_reason = ""};
    struct graph_run own;
    bool found = false;
    *out = (struct suite_outcome){0};
    if (!find_own_run(suite, job, dir, &found, &own, err))
        return false;
    const struct optimize_opts opts = opts_of(suite, job, dir);
    if (found && !has_ended(&own)) {
        out->resumed = true;
        if (!engine_resume(own.id, &opts, NULL, &arena, &result, err))
            return false;
    } else if (!found && !engine_optimize(&opts, NULL, &arena, &result, err)) {
        return false;
    }
    if (str_starts_with(result.end_reason, "error:"))
        return err_set(err, ERR_NETWORK, "the run ended with %s", result.end_reason);
    out->ended = !str_equal(result.end_reason, "interrupted");
    return true;
}

bool suite_keep_job(struct suite *suite, const struct suite_job *job, struct err *err)
{
    const char *dir = memory_of(suite, suite->plan.arms[job->arm].name, job->seed, job->task);
    struct suite_result kept;
    return take_result(suite, job, dir, &kept, err) &&
           results_add(suite->opts->results, &suite->results, &kept, suite->arena, err);
}

#include "suite/internal.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "task/task.h"

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
        suite->tasks[suite->task_count++] = (struct suite_task){.name = names[i],
                                                                .dir = dir,
                                                                .family = task->family,
                                                                .id = task->id.text,
                                                                .threads = task->threads};
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

static bool open_and_run(struct suite *suite, struct err *err)
{
    CLEANUP(os_close) int lock = -1;
    const struct suite_opts *opts = suite->opts;
    if (!suite_read_arms(opts->arms, suite->arena, &suite->plan, err) || !find_tasks(suite, err) ||
        !check_frozen(suite, err) || !keep_plan(suite, err) ||
        !os_lock_file(os_path_join(suite->arena, opts->results, "lock"), &lock, err) ||
        !results_read(opts->results, suite->arena, &suite->results, err))
        return false;
    suite->progress.runs =
        suite->seeds * (int64_t)suite->task_count * (int64_t)suite->plan.arm_count;
    return suite_run_all(suite, err);
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
    suite->first_seed = opts->first_seed > 0 ? opts->first_seed : 1;
    if (suite->first_seed > SUITE_MAX_SEEDS ||
        suite->seeds > SUITE_MAX_SEEDS - suite->first_seed + 1)
        return err_set(err, ERR_USAGE, "a suite has seeds up to %d", SUITE_MAX_SEEDS);
    if (!open_and_run(suite, err))
        return false;
    *out = suite->progress;
    return true;
}

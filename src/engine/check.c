#include "engine/internal.h"

#include "os/file.h"

#include <math.h>

static bool read_candidate(const struct check_opts *opts, const struct target *target,
                           struct arena *arena, struct candidate *out, struct err *err)
{
    char *source = NULL;
    if (!os_read_file(opts->source_path, CANDIDATE_MAX_SOURCE_BYTES, arena, &source, NULL, err))
        return false;
    *out = (struct candidate){.source = source, .compiler = opts->compiler};
    if (opts->flags) {
        if (!candidate_parse_flags(opts->flags, arena, out))
            return err_set(err, ERR_USAGE, "more than %d flags", CANDIDATE_MAX_FLAGS);
        return true;
    }
    const char *compiler = NULL;
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(target, &compiler, &flags, &count);
    for (size_t i = 0; i < count && i < CANDIDATE_MAX_FLAGS; i++)
        out->flags[out->flag_count++] = flags[i];
    return true;
}

bool engine_check(const struct check_opts *opts, const struct observer *observer,
                  struct arena *arena, const struct task **out_task, struct verdict *out,
                  struct err *err)
{
    CLEANUP(target_close) struct target *target = NULL;
    CLEANUP(gate_close) struct gate *gate = NULL;
    struct run stages = {.observer = observer, .arena = arena};
    struct candidate candidate;
    const struct task *task = NULL;
    const char *targets = os_path_join(arena, memory_default_dir(arena), "targets");
    if (!task_load(opts->task_path, arena, &task, err) ||
        !target_open(opts->target ? opts->target : "cpu", targets, &target, err) ||
        !read_candidate(opts, target, arena, &candidate, err))
        return false;
    run_stage(&stages, "measuring the machine (kept for later runs)");
    if (!target_probe(target, false, err))
        return false;
    run_stage(&stages, "building baseline and oracle, trying the null kernels");
    const struct gate_opts gate_opts = {.check_only = opts->check_only};
    if (!gate_open(target, task, &gate_opts, &gate, err))
        return err_within(err, "task '%s'", task->name);
    run_stage(&stages, "judging the candidate");
    const bool ok = opts->confirm
                        ? gate_confirm(gate, &candidate, arena, out, err)
                        : gate_judge(gate, &candidate, -(double)INFINITY, arena, out, err);
    if (ok)
        *out_task = task;
    return ok;
}

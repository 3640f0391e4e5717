#include "engine/internal.h"

#include "os/file.h"

#include <math.h>

bool run_read_candidate(const char *path, const char *compiler_name, const char *flag_text,
                        const struct target *target, struct arena *arena, struct candidate *out,
                        struct err *err)
{
    char *source = NULL;
    if (compiler_name && !target_has_compiler(target, compiler_name, err))
        return false;
    if (!os_read_file(path, CANDIDATE_MAX_SOURCE_BYTES, arena, &source, NULL, err))
        return false;
    *out = (struct candidate){.source = source, .compiler = compiler_name};
    if (flag_text) {
        if (!candidate_parse_flags(flag_text, arena, out))
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

/* There is no run, only the moves that one would have. */
static const char *twin_for(struct target *target, const struct task *task, struct arena *arena)
{
    struct run run = {.target = target, .task = task, .arena = arena};
    run.moves = run_moves_env(target, task, arena);
    return moves_catalogue(&run.moves, arena, &run.catalogue, &run.catalogue_count) ? run_twin(&run)
                                                                                    : NULL;
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
        !run_read_candidate(opts->source_path, opts->compiler, opts->flags, target, arena,
                            &candidate, err))
        return false;
    run_stage(&stages, "measuring the machine (kept for later runs)");
    if (!target_probe(target, false, err))
        return false;
    run_stage(&stages, "building baseline and oracle, trying the null kernels");
    const struct gate_opts gate_opts = {.check_only = opts->check_only,
                                        .twin = twin_for(target, task, arena)};
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

static bool contest(struct run *stages, const struct compare_opts *opts, struct gate *gate,
                    const struct candidate candidates[2], struct arena *arena,
                    struct compare_result *out, struct err *err)
{
    CLEANUP(gate_contest_close) struct gate_contest *open = NULL;
    const struct contest_opts contest_opts = {.has_cold = true,
                                              .time_budget_ns = opts->time_budget_ns,
                                              .max_pairs = opts->max_pairs,
                                              .confirm = opts->confirm,
                                              .only_case = opts->only_case};
    run_stage(stages, "checking A and B");
    if (!gate_contest_open(gate, &candidates[0], &candidates[1], &contest_opts, arena, out->checks,
                           &open, err))
        return false;
    if (!open)
        return true;
    run_stage(stages, "timing B against A");
    out->is_timed = true;
    return gate_contest_time(open, arena, &out->timed, &out->about_a, err);
}

bool engine_compare(const struct compare_opts *opts, const struct observer *observer,
                    struct arena *arena, struct compare_result *out, struct err *err)
{
    CLEANUP(target_close) struct target *target = NULL;
    CLEANUP(gate_close) struct gate *gate = NULL;
    struct run stages = {.observer = observer, .arena = arena};
    struct candidate candidates[2];
    struct compare_result result = {0};
    const char *targets = os_path_join(arena, memory_default_dir(arena), "targets");
    const char *b_compiler = opts->b_compiler ? opts->b_compiler : opts->compiler;
    const char *b_flags = opts->b_flags ? opts->b_flags : opts->flags;
    if (!task_load(opts->task_path, arena, &result.task, err) ||
        !target_open(opts->target ? opts->target : "cpu", targets, &target, err) ||
        !run_read_candidate(opts->a_path, opts->compiler, opts->flags, target, arena,
                            &candidates[0], err) ||
        !run_read_candidate(opts->b_path, b_compiler, b_flags, target, arena, &candidates[1], err))
        return false;
    run_stage(&stages, "measuring the machine (kept for later runs)");
    if (!target_probe(target, false, err))
        return false;
    run_stage(&stages, "building baseline and oracle, trying the null kernels");
    const struct gate_opts gate_opts = {.twin = twin_for(target, result.task, arena)};
    if (!gate_open(target, result.task, &gate_opts, &gate, err))
        return err_within(err, "task '%s'", result.task->name);
    if (!contest(&stages, opts, gate, candidates, arena, &result, err))
        return false;
    *out = result;
    return true;
}

#include "engine/profile.h"

#include "base/str.h"
#include "engine/internal.h"

#include <math.h>

static bool reference_candidate(struct run *run, struct candidate *out, struct err *err)
{
    return recipe_candidate(&run->moves, recipe_plain(&run->moves, run->arena), run->arena, out,
                            err);
}

static bool best_candidate(struct run *run, const char **what, struct candidate *out,
                           struct err *err)
{
    struct graph_decision best;
    bool found = false;
    if (!graph_best(run->memory.graph, run->task->id.text, run->features->id.text, run->arena,
                    &found, &best, err))
        return false;
    if (!found || !remembered_candidate(run, &best, out)) {
        (void)err_set(err, ERR_NOT_FOUND, "memory '%s' has no candidate of '%s' for this machine",
                      run->memory.dir, run->task->name);
        return err_hint(err, "'kope optimize %s' finds one; or name a file with --candidate",
                        run->task->dir);
    }
    *what = arena_printf(run->arena, "decision %.12s", best.id);
    return true;
}

static bool choose_candidate(struct run *run, const struct profile_opts *opts, const char **what,
                             struct candidate *out, struct err *err)
{
    *what = opts->source_path ? opts->source_path : "the plain reference";
    if (opts->source_path)
        return run_read_candidate(opts->source_path, opts->compiler, opts->flags, run->target,
                                  run->arena, out, err);
    if (opts->best)
        return best_candidate(run, what, out, err);
    return reference_candidate(run, out, err);
}

/* One that is right and was only not to be timed on this machine now has its findings all the same.
 */
static void not_timed(struct run *run, const struct verdict *verdict, struct profile_result *out)
{
    out->problem = verdict_summary(verdict, run->arena);
    if (verdict->kind != VERDICT_TOO_NOISY)
        out->exit_code = verdict_kind_exit_code(verdict->kind);
}

/* The class of its slowest case. False only where the host cannot tell. */
static bool classify(struct run *run, struct profiled *profiled, struct profile_result *out,
                     struct err *err)
{
    struct verdict verdict;
    const struct case_result *slowest = NULL;
    const struct task_case *which = NULL;
    run_stage(run, "building baseline and oracle, trying the null kernels");
    if (!run_need_gate(run, err))
        return false;
    run_stage(run, "timing the candidate");
    if (!gate_judge(run->gate, profiled->candidate, -(double)INFINITY, run->arena, &verdict, err))
        return false;
    if (verdict.kind != VERDICT_TIMED)
        not_timed(run, &verdict, out);
    else if (run_slowest_case(run->task, verdict.cases, verdict.case_count, &slowest, &which)) {
        profiled->roofline =
            profile_roofline(run->task, which, run->features, slowest->candidate_ns, run->arena);
        profiled->slowest_case = which->name;
        profiled->call_ns = slowest->candidate_ns;
    }
    return true;
}

/* Without a gate: does it build? */
static bool try_build(struct run *run, const struct build_request *request,
                      struct profile_result *out, struct err *err)
{
    struct build_result built = {0};
    run_stage(run, "building the candidate");
    if (!target_build(run->target, request, run->arena, &built, err))
        return false;
    if (built.status != BUILD_OK)
        not_timed(run,
                  &(struct verdict){.kind = built.status == BUILD_REJECTED ? VERDICT_REJECTED
                                                                           : VERDICT_BUILD_FAILED,
                                    .mechanism = built.mechanism,
                                    .evidence = built.evidence},
                  out);
    return true;
}

static bool fill_result(struct run *run, const struct profile *profile, struct profile_result *out,
                        struct err *err)
{
    struct profile_line *lines = NULL;
    if (!answers_to_profile(run, profile, run->arena, &lines, err))
        return false;
    out->lines = lines;
    out->count = profile->count;
    for (size_t i = 0; i < profile->note_count; i++) {
        out->tools[i].tool = profile->notes[i].tool;
        out->tools[i].said = profile->notes[i].said;
        out->tools[i].ran = profile->notes[i].ran;
    }
    out->tool_count = profile->note_count;
    return true;
}

static bool profile_it(struct run *run, const struct profile_opts *opts, struct profile_result *out,
                       struct err *err)
{
    struct candidate candidate = {0};
    struct profiled profiled = {.candidate = &candidate, .roofline = {.text = ""}};
    struct profile profile;
    const char *what = "";
    out->problem = "";
    if (!choose_candidate(run, opts, &what, &candidate, err))
        return false;
    const struct build_request request = {
        .task = run->task, .candidate = &candidate, .real_name = dtype_c_name(run->task->dtype)};
    if (opts->no_timing ? !try_build(run, &request, out, err) : !classify(run, &profiled, out, err))
        return false;
    struct profile_plan plan =
        opts->all_tools ? profile_plan(ROOFLINE_UNKNOWN, 0.0)
                        : profile_plan(profiled.roofline.roofline, profiled.roofline.share);
    plan.misses |= opts->all_tools;
    if (out->exit_code != 0) /* what is wrong is not run again */
        plan.samples = plan.misses = false;
    run_stage(run, "asking the tools");
    if (!run_profile_tools(run, &profiled, &plan, 0, run->arena, &profile, err))
        return false;
    out->task = run->task;
    out->what =
        candidate.compiler || candidate.flag_count
            ? arena_printf(run->arena, "%s, %s %s", what,
                           candidate.compiler ? candidate.compiler : run->moves.default_compiler,
                           candidate_flags_text(&candidate, run->arena))
            : what;
    out->roofline = roofline_class_name(profiled.roofline.roofline);
    out->roofline_text = profiled.roofline.text;
    out->share = profiled.roofline.share;
    out->plan = opts->all_tools ? "all were asked for" : plan.why;
    return fill_result(run, &profile, out, err);
}

bool engine_profile(const struct profile_opts *opts, const struct observer *observer,
                    struct arena *arena, struct profile_result *out, struct err *err)
{
    struct run run = {.opts = {.task_path = opts->task_path,
                               .memory_dir = opts->memory_dir,
                               .target = opts->target},
                      .observer = observer,
                      .arena = arena};
    struct profile_result result = {.count = 0};
    const bool ok = run_open_for_context(&run, err) && profile_it(&run, opts, &result, err);
    run_close(&run);
    if (ok)
        *out = result;
    return ok;
}

/* Findings of a run: of its reference and of each new best, journalled, and as a prompt shows them.
 */
#include "engine/internal.h"
#include "engine/replay.h"

#include "base/str.h"
#include "graph/findings.h"

enum { MOST_SHOWN = 5, NOTES_SHARE = 20 };
#define SIMULATION_NS INT64_C(2000000000)

bool run_is_roofline(const char *kind)
{
    return str_equal(kind, roofline_class_name(ROOFLINE_MEMORY)) ||
           str_equal(kind, roofline_class_name(ROOFLINE_COMPUTE)) ||
           str_equal(kind, roofline_class_name(ROOFLINE_LATENCY));
}

static bool append(struct run *run, const struct finding_event *event, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    event_write_finding(event, &body);
    return memory_append(&run->memory, EVENT_FINDING, &body, NULL, err);
}

/* Which tools of the plan had nothing to say, and why, and how much of what they said is not noted.
 */
static bool note_tools(struct run *run, const char *decision_id, const struct profile *profile,
                       struct arena *arena, struct err *err)
{
    const char *text = "";
    size_t missing = 0, doubtful = 0;
    for (size_t i = 0; i < profile->note_count; i++) {
        const struct profile_note *note = &profile->notes[i];
        if (!note->ran && (profile->timed_out || !target_is_scripted(run->target)))
            text = arena_printf(arena, "%s%s%s: %s", text, missing++ ? "; " : "", note->tool,
                                note->said);
    }
    for (size_t i = 0; i < profile->count; i++)
        doubtful += profile->findings[i].may_not_run;
    if (doubtful)
        text = arena_printf(arena, "%s%s%zu said of the hot loop, another version of which may run",
                            text, missing++ ? "; " : "", doubtful);
    return missing == 0 ||
           append(run,
                  &(struct finding_event){.run_id = run->run_id,
                                          .decision_id = decision_id,
                                          .bottleneck = "tools",
                                          .text = arena_printf(arena, "without %s", text),
                                          .number = (double)missing},
                  err);
}

/* The compiler's time for its records: a share of the run's, where that has a limit. */
static int64_t notes_limit_ns(const struct run *run)
{
    const int64_t share_ns = run->opts.time_limit_ns / NOTES_SHARE;
    return run->opts.time_limit_ns > 0 && share_ns < 1 ? 1 : share_ns;
}

static bool note_late(struct run *run, const char *decision_id, struct arena *arena,
                      struct err *err)
{
    const struct profile profile = {
        .notes = {{"compiler", "it was not done in time before, and is not asked again", false}},
        .note_count = 1,
        .timed_out = true};
    return note_tools(run, decision_id, &profile, arena, err);
}

/* One call at least, whatever it takes. */
static bool is_long(const struct run *run, int64_t call_ns)
{
    return run->opts.time_limit_ns > 0 && call_ns > run->opts.time_limit_ns / NOTES_SHARE / 2;
}

/* The candidate as the gate sees it run; that it is not looked at is the problem of the samples. */
static bool watch(struct run *run, const struct profiled *profiled, struct arena *arena,
                  struct profile_watch *out, struct err *err)
{
    struct gate_watch seen;
    int64_t call_ns = profiled->call_ns;
    for (size_t i = 0; run->gate && profiled->call_ns == 0 && i < run->task->case_count; i++) {
        const int64_t base_ns = gate_baseline_ns(run->gate, i);
        call_ns = base_ns > call_ns ? base_ns : call_ns;
    }
    *out = (struct profile_watch){.problem = ""};
    if (!run->gate)
        out->problem = "nothing is run here";
    else if (is_long(run, call_ns))
        out->problem = arena_printf(arena, "a call takes %.2g s, too long for the time of this run",
                                    (double)call_ns / 1e9);
    if (out->problem[0])
        return true;
    if (!gate_watch(run->gate, profiled->candidate, profiled->slowest_case, profiled->call_ns,
                    arena, &seen, err))
        return false;
    *out = (struct profile_watch){.problem = seen.problem,
                                  .case_name = seen.case_name,
                                  .samples = seen.samples,
                                  .period_ns = seen.period_ns,
                                  .image = seen.image,
                                  .image_bytes = seen.image_bytes};
    return true;
}

/* The simulation takes seconds: a run that has few of them does without. */
static bool simulate(struct run *run, const struct profiled *profiled, struct arena *arena,
                     struct profile_misses *out, struct err *err)
{
    struct gate_misses counted;
    *out = (struct profile_misses){.problem = ""};
    if (!run->gate)
        out->problem = "nothing is run here";
    else if (is_long(run, SIMULATION_NS))
        out->problem = "there is too little time for it in this run";
    if (out->problem[0])
        return true;
    if (!gate_misses(run->gate, profiled->candidate, profiled->slowest_case, arena, &counted, err))
        return false;
    *out = (struct profile_misses){.problem = counted.problem,
                                   .said = counted.said,
                                   .shape = counted.shape,
                                   .bytes = counted.bytes};
    return true;
}

bool run_profile_tools(struct run *run, const struct profiled *profiled,
                       const struct profile_plan *plan, int64_t limit_ns, struct arena *arena,
                       struct profile *out, struct err *err)
{
    struct profile_runs runs = {.watch = {.problem = ""}, .misses = {.problem = ""}};
    const struct build_request request = {.task = run->task,
                                          .candidate = profiled->candidate,
                                          .real_name = dtype_c_name(run->task->dtype),
                                          .notes_limit_ns = limit_ns};
    return (!plan->samples || watch(run, profiled, arena, &runs.watch, err)) &&
           (!plan->misses || simulate(run, profiled, arena, &runs.misses, err)) &&
           profile_run(run->target, &request, plan, &runs, arena, out, err);
}

bool run_note_profile(struct run *run, const char *decision_id, const struct profiled *profiled,
                      struct arena *arena, struct err *err)
{
    struct profile profile;
    const struct profile_plan plan =
        profile_plan(profiled->roofline.roofline, profiled->roofline.share);
    if (run->replay)
        return replay_findings(run, decision_id, err);
    if (run->notes_are_late)
        return note_late(run, decision_id, arena, err);
    if (!run_profile_tools(run, profiled, &plan, notes_limit_ns(run), arena, &profile, err))
        return false;
    run->notes_are_late = profile.timed_out;
    for (size_t i = 0; i < profile.count; i++) {
        const struct finding *f = &profile.findings[i];
        const char *moves = "";
        const char *learned = "";
        if (f->may_not_run)
            continue;
        if (!answers_to(run, f->kind, arena, &moves, &learned, err) ||
            !append(run,
                    &(struct finding_event){.run_id = run->run_id,
                                            .decision_id = decision_id,
                                            .bottleneck = finding_kind_name(f->kind),
                                            .text = f->text,
                                            .number = f->number,
                                            .line = f->line,
                                            .tool = f->tool,
                                            .moves = moves},
                    err))
            return false;
    }
    return note_tools(run, decision_id, &profile, arena, err);
}

bool run_note_reference(struct run *run, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct profiled reference = {.candidate = &run->nodes[SEARCH_ROOT].candidate,
                                       .roofline = {.roofline = ROOFLINE_UNKNOWN}};
    return run_note_profile(run, "", &reference, &arena, err);
}

bool run_findings(struct run *run, const char *run_id, const char *decision_id, struct arena *arena,
                  const char **text, const char **kinds, struct err *err)
{
    CLEANUP(buf_free) struct buf lines = {0};
    const struct graph_finding *findings = NULL;
    size_t count = 0;
    size_t shown = 0;
    if (!graph_findings_of(run->memory.graph, run_id, decision_id, arena, &findings, &count, err) ||
        !graph_finding_kinds(run->memory.graph, run_id, decision_id, arena, kinds, err))
        return false;
    for (size_t i = 0; i < count && shown < MOST_SHOWN; i++) {
        const struct graph_finding *f = &findings[i];
        if (f->tool[0] == '\0')
            continue;
        shown++;
        (void)buf_printf(&lines, "- %s: %s (%s)%s%s\n", f->bottleneck, f->text, f->tool,
                         f->moves[0] ? " -> " : "", f->moves);
    }
    *text = arena_strdup(arena, buf_text(&lines));
    if ((*kinds)[0] == '\0' && run->bottleneck)
        *kinds = run->bottleneck; /* of the best: what is asked for goes on from one like it */
    return true;
}

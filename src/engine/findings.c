/* Findings of a run: of its reference and of each new best, journalled, and as a prompt shows them.
 */
#include "engine/internal.h"
#include "engine/replay.h"

#include "base/str.h"
#include "graph/findings.h"

enum { MOST_SHOWN = 5, NOTES_SHARE = 20 };

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

bool run_note_profile(struct run *run, const char *decision_id, const struct candidate *candidate,
                      const struct roofline *roofline, struct arena *arena, struct err *err)
{
    struct profile profile;
    const struct profile_plan plan = profile_plan(roofline->roofline, roofline->share);
    const struct build_request request = {.task = run->task,
                                          .candidate = candidate,
                                          .real_name = dtype_c_name(run->task->dtype),
                                          .notes_limit_ns = notes_limit_ns(run)};
    if (run->replay)
        return replay_findings(run, decision_id, err);
    if (run->notes_are_late)
        return note_late(run, decision_id, arena, err);
    if (!profile_run(run->target, &request, &plan, arena, &profile, err))
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
    const struct roofline unknown = {.roofline = ROOFLINE_UNKNOWN};
    return run_note_profile(run, "", &run->nodes[SEARCH_ROOT].candidate, &unknown, &arena, err);
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

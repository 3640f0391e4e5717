#include "engine/session.h"

#include "base/str.h"
#include "engine/internal.h"
#include "os/os.h"

#include <stdlib.h>

struct engine_session {
    struct arena arena; /* the run's */
    struct run run;
    const struct observer *outer;
    struct observer inner; /* sees what the steps of the run tell, and passes it on */
    const char *baseline;
    bool is_begun, is_finished;
    /* What the attempt at hand came to. */
    struct arena *judged_arena;
    struct engine_judged judged;
};

static void on_progress(void *context, const struct progress *progress)
{
    struct engine_session *s = context;
    if (s->judged_arena && progress->kind == PROGRESS_PROPOSED)
        s->judged.decision_id = arena_strdup(s->judged_arena, progress->decision_id);
    if (s->judged_arena && progress->kind == PROGRESS_JUDGED) {
        s->judged.verdict = verdict_copy(progress->verdict, s->judged_arena);
        s->judged.is_new_best = progress->is_new_best;
    }
    if (s->outer && s->outer->on_progress)
        s->outer->on_progress(s->outer->context, progress);
}

static const char *copy_or_null(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

/* A session outlives the call that opened it: it keeps its own texts. */
static struct optimize_opts copy_opts(const struct optimize_opts *opts, struct arena *arena)
{
    struct optimize_opts copy = *opts;
    copy.task_path = copy_or_null(arena, opts->task_path);
    copy.memory_dir = copy_or_null(arena, opts->memory_dir);
    copy.target = copy_or_null(arena, opts->target);
    copy.proposer = arena_strdup(arena, opts->proposer ? opts->proposer : "mcp");
    copy.policy = NULL;
    copy.model = NULL;
    copy.base_url = NULL;
    copy.output_path = NULL;
    return copy;
}

static bool begin_new(struct engine_session *s, struct err *err)
{
    if (!run_open(&s->run, err))
        return false;
    /* The search keeps the tree; where to go on is the driver's choice. */
    s->run.opts.policy = "driven";
    if (!run_record_subject(&s->run, err) || !run_record_begin(&s->run, err))
        return false;
    s->is_begun = true;
    return (run_note_reference(&s->run, err) && remember_start(&s->run, err)) ||
           err->kind == ERR_INTERRUPTED;
}

static bool begin_again(struct engine_session *s, const char *which, struct err *err)
{
    const char *proposer = s->run.opts.proposer;
    struct graph_run record;
    if (!resume_find(&s->run, which, &record, err))
        return false;
    if (!str_equal(record.proposer, proposer)) {
        (void)err_set(err, ERR_USAGE, "run %.12s was driven by '%s', not by '%s'", record.id,
                      record.proposer, proposer);
        return err_hint(err, "'kope resume %.12s' goes on with it", record.id);
    }
    s->run.opts.policy = NULL;
    if (!run_open(&s->run, err))
        return false;
    s->run.opts.policy = record.policy;
    s->is_begun = resume_adopt(&s->run, &record, err);
    return s->is_begun;
}

bool engine_session_open(const struct engine_session_opts *opts, const struct observer *observer,
                         struct engine_session **out, struct err *err)
{
    struct engine_session *s = calloc(1, sizeof *s);
    if (!s)
        BUG("engine: out of memory");
    s->outer = observer;
    s->inner = (struct observer){.on_progress = on_progress, .context = s};
    s->run.opts = copy_opts(&opts->run, &s->arena);
    s->run.observer = &s->inner;
    s->run.arena = &s->arena;
    s->run.is_driven = true;
    s->run.contract = copy_or_null(&s->arena, opts->contract);
    if (!(opts->resume ? begin_again(s, opts->resume, err) : begin_new(s, err))) {
        engine_session_close(&s);
        return false;
    }
    s->baseline = run_baseline_text(s->run.target, &s->arena);
    *out = s;
    return true;
}

void engine_session_close(struct engine_session **session)
{
    struct engine_session *s = *session;
    if (!s)
        return;
    if (s->is_begun && !s->is_finished) {
        /* Nothing more can be told: what could not be written, a resume finds as an open run. */
        struct err ignored = {0};
        (void)run_record_end(&s->run, "interrupted", &(struct optimize_result){0}, &ignored);
    }
    run_close(&s->run);
    arena_free(&s->arena);
    free(s);
    *session = NULL;
}

struct engine_session_info engine_session_info(const struct engine_session *session)
{
    const struct run *run = &session->run;
    return (struct engine_session_info){
        .run_id = run->run_id,
        .task = run->task,
        .features = run->features,
        .baseline = session->baseline,
        .memory_dir = run->memory.dir,
        .start_text = run->start_text,
        .best_decision = run->nodes[run->best].decision_id,
        .best_log_ratio = run->best > 0 ? run->nodes[run->best].log_ratio : 0.0,
        .evaluations = run->evaluations,
        .budget = run->opts.budget,
        .finding = run->finding,
    };
}

/* The node of a decision: its id or a prefix of at least eight digits. */
static bool find_node(const struct run *run, const char *decision, int *out, struct err *err)
{
    if (!decision || decision[0] == '\0') {
        *out = decision ? SEARCH_ROOT : run->best;
        return true;
    }
    for (size_t i = 1; i < run->node_count; i++) {
        if (strlen(decision) >= 8 && str_starts_with(run->nodes[i].decision_id, decision)) {
            *out = (int)i;
            return true;
        }
    }
    (void)err_set(err, ERR_NOT_FOUND, "run %.12s has no decision '%.40s'", run->run_id, decision);
    return err_hint(err, "name one that an evaluation of this run gave, or none for the best");
}

bool engine_session_context(struct engine_session *session, const char *parent,
                            int64_t budget_tokens, struct arena *arena, struct context *out,
                            const char **out_id, struct err *err)
{
    struct run *run = &session->run;
    int node = SEARCH_ROOT;
    if (!find_node(run, parent, &node, err))
        return false;
    const int64_t usual = run->opts.context_tokens;
    run->opts.context_tokens = budget_tokens ? budget_tokens : usual;
    const bool ok = prompt_build(run, node, NULL, arena, out, out_id, err);
    run->opts.context_tokens = usual;
    return ok;
}

/* A driver that may still spend. */
static bool may_evaluate(const struct engine_session *s, struct err *err)
{
    const char *reason = run_limit_reached(&s->run);
    if (s->is_finished)
        return err_set(err, ERR_USAGE, "run %.12s has ended", s->run.run_id);
    if (!reason)
        return true;
    if (str_equal(reason, "interrupted"))
        return err_set(err, ERR_INTERRUPTED, "interrupted before the candidate was judged");
    (void)err_set(err, ERR_BUDGET, "run %.12s has spent its budget (%s): %lld candidates",
                  s->run.run_id, reason, (long long)s->run.evaluations);
    return err_hint(err, "finish the run; a new one begins at the best that is known");
}

static void fill_build(const struct run *run, struct candidate *candidate)
{
    const char *compiler = NULL;
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(run->target, &compiler, &flags, &count);
    if (!candidate->compiler)
        candidate->compiler = compiler;
    for (size_t i = 0; candidate->flag_count == 0 && i < count && i < CANDIDATE_MAX_FLAGS; i++)
        candidate->flags[i] = flags[i];
    if (candidate->flag_count == 0)
        candidate->flag_count = count < CANDIDATE_MAX_FLAGS ? count : CANDIDATE_MAX_FLAGS;
}

bool engine_session_evaluate(struct engine_session *session, const struct engine_attempt *attempt,
                             struct arena *arena, struct engine_judged *out, struct err *err)
{
    struct run *run = &session->run;
    int node = SEARCH_ROOT;
    if (!may_evaluate(session, err) || !find_node(run, attempt->parent, &node, err))
        return false;
    /* What the tree keeps lives as long as the run. */
    struct proposal proposal = {
        .intent = attempt->intent ? arena_strdup(&session->arena, attempt->intent) : "",
        .hypothesis = attempt->hypothesis ? arena_strdup(&session->arena, attempt->hypothesis) : "",
        .predicted_log_ratio = attempt->predicted_log_ratio,
        .failure = attempt->failure,
        .candidate = attempt->candidate};
    if (!proposal.failure) {
        fill_build(run, &proposal.candidate);
        proposal.candidate = candidate_copy(&proposal.candidate, &session->arena);
    }
    const struct step_input input = {.parent = node,
                                     .step = "driven",
                                     .derived_from = "",
                                     .context_id = attempt->context_id ? attempt->context_id : "",
                                     .proposal = &proposal};
    session->judged = (struct engine_judged){.decision_id = ""};
    session->judged_arena = arena;
    const bool ok = step_judge(run, &input, err);
    session->judged_arena = NULL;
    *out = session->judged;
    return ok;
}

bool engine_session_finding(struct engine_session *session, const char *decision,
                            struct arena *arena, bool *found, struct roofline *out, struct err *err)
{
    struct run *run = &session->run;
    const struct case_result *cases = NULL;
    const struct task_case *which = NULL;
    const struct case_result *slowest = NULL;
    size_t count = 0;
    int node = SEARCH_ROOT;
    if (!find_node(run, decision, &node, err) ||
        !graph_outcome_cases(run->memory.graph, run->nodes[node].decision_id, false, arena, &cases,
                             &count, err))
        return false;
    *found = false;
    if (!run_slowest_case(run->task, cases, count, &slowest, &which))
        return true;
    *out = profile_roofline(run->task, which, run->features, slowest->candidate_ns, arena);
    *found = out->roofline != ROOFLINE_UNKNOWN;
    return true;
}

bool engine_session_tools(struct engine_session *session, const char *decision,
                          const struct roofline *roofline, struct arena *arena,
                          const struct profile_line **out, size_t *out_count, struct err *err)
{
    struct run *run = &session->run;
    struct profile profile;
    int node = SEARCH_ROOT;
    if (!find_node(run, decision, &node, err))
        return false;
    const struct profile_plan plan = profile_plan(roofline->roofline, roofline->share);
    const struct profiled profiled = {
        .candidate = &run->nodes[node].candidate,
        .roofline = *roofline,
        .call_ns =
            roofline->share > 0.0 ? (int64_t)((double)roofline->bound_ns / roofline->share) : 0};
    if (!run_profile_tools(run, &profiled, &plan, 0, arena, &profile, err))
        return false;
    struct profile_line *lines = NULL;
    if (!answers_to_profile(run, &profile, arena, &lines, err))
        return false;
    for (size_t i = 0; i < profile.count; i++)
        lines[i].learned = NULL;
    *out = lines;
    *out_count = profile.count;
    return true;
}

bool engine_session_finish(struct engine_session *session, struct optimize_result *out,
                           struct err *err)
{
    struct run *run = &session->run;
    if (session->is_finished)
        return err_set(err, ERR_USAGE, "run %.12s has ended", run->run_id);
    const char *reason = run_limit_reached(run);
    struct optimize_result result = {0};
    if (!run_end(run, reason ? reason : "finished", &result, err))
        return false;
    session->is_finished = !os_interrupted();
    *out = result;
    return true;
}

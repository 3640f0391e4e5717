#include "engine/internal.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/os.h"

#include <math.h>

enum { MAX_PROPOSER_FAILURES = 5, MAX_EXHAUSTED_IN_TURN = 10000 };

static void add_tried(struct run *run, const char *what)
{
    run->tried =
        vec_reserve_one(run->tried, run->tried_count, &run->tried_capacity, sizeof *run->tried);
    run->tried[run->tried_count++] = what;
}

int step_adopt(struct run *run, int parent, const struct run_node *node)
{
    const struct search_outcome outcome = {.is_valid = node->is_timed,
                                           .log_ratio = node->log_ratio,
                                           .low = node->low,
                                           .high = node->high};
    const int index = search_tell(run->search, parent, &outcome);
    if ((size_t)index != run->node_count)
        BUG("engine: the search numbers node %d, the run %zu", index, run->node_count);
    run->nodes =
        vec_reserve_one(run->nodes, run->node_count, &run->node_capacity, sizeof *run->nodes);
    run->nodes[run->node_count++] = *node;
    if (node->candidate.recipe)
        add_tried(run, node->candidate.recipe);
    else
        add_tried(run, arena_strdup(run->arena, candidate_id(&node->candidate).text));
    if (node->is_timed && node->is_win && !node->confirm_failed &&
        (run->best == 0 || node->log_ratio > run->nodes[run->best].log_ratio))
        run->best = index;
    return index;
}

static void write_decision(const struct run *run, const struct step_input *input,
                           const char *source_body, const char *exchange_body,
                           struct decision_event *e)
{
    const struct proposal *p = input->proposal;
    *e = (struct decision_event){
        .run_id = run->run_id,
        .parent = run->nodes[input->parent].decision_id,
        .sequence = run->sequence,
        .step = input->step,
        .proposer = run_proposer_kind(run),
        .intent = p->intent ? p->intent : "",
        .hypothesis = p->hypothesis ? p->hypothesis : "",
        .predicted_log_ratio = p->predicted_log_ratio,
        .move_count = p->move_count,
        .recipe = p->candidate.recipe ? p->candidate.recipe : "",
        .compiler = p->candidate.compiler ? p->candidate.compiler : "",
        .flags = candidate_flags_text(&p->candidate, run->arena),
        .source_body = source_body,
        .candidate_id = arena_strdup(run->arena, candidate_id(&p->candidate).text),
        .context_id = input->context_id,
        .derived_from = input->derived_from,
        .tokens_in = p->tokens_in,
        .tokens_out = p->tokens_out,
        .exchange_body = exchange_body,
        .failure = p->failure ? p->failure : "",
    };
    for (size_t i = 0; i < p->move_count && i < DECISION_MAX_MOVES; i++)
        e->moves[i] = p->moves[i];
}

bool step_judge(struct run *run, const struct step_input *input, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct hash_id id;
    const char *source_body = "";
    const char *exchange_body = "";
    struct decision_event decision;
    const struct proposal *p = input->proposal;
    if (!p->failure &&
        !memory_put_text(&run->memory, p->candidate.source, run->arena, &source_body, err))
        return false;
    if (p->exchange_json &&
        !memory_put_text(&run->memory, p->exchange_json, run->arena, &exchange_body, err))
        return false;
    run->sequence++;
    run->tokens += p->tokens_in + p->tokens_out;
    write_decision(run, input, source_body, exchange_body, &decision);
    event_write_decision(&decision, &body);
    if (!memory_append(&run->memory, EVENT_DECISION, &body, &id, err))
        return false;
    const char *decision_id = arena_strdup(run->arena, id.text);
    run_notify(run, PROGRESS_PROPOSED,
               &(struct progress){.decision = &decision, .decision_id = decision_id});
    if (p->failure) {
        /* Paid for and kept; there is nothing to judge. */
        const struct run_node failed = {.decision_id = decision_id,
                                        .candidate = {.source = "", .recipe = ""}};
        (void)step_adopt(run, input->parent, &failed);
        return true;
    }
    const struct candidate candidate = candidate_copy(&p->candidate, run->arena);
    return step_judge_decision(run, input->parent, decision_id, &decision, &candidate, err);
}

bool run_slowest_case(const struct task *task, const struct case_result *cases, size_t count,
                      const struct case_result **out, const struct task_case **out_case)
{
    const struct case_result *slowest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!slowest || cases[i].candidate_ns > slowest->candidate_ns)
            slowest = &cases[i];
    }
    for (size_t i = 0; slowest && i < task->case_count; i++) {
        if (!str_equal(task->cases[i].name, slowest->name))
            continue;
        *out = slowest;
        *out_case = &task->cases[i];
        return true;
    }
    return false;
}

static bool record_finding(struct run *run, const char *decision_id, const struct verdict *verdict,
                           struct arena *arena, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    const struct case_result *slowest = NULL;
    const struct task_case *which = NULL;
    if (!run_slowest_case(run->task, verdict->cases, verdict->case_count, &slowest, &which))
        return true;
    const struct finding finding =
        profile_roofline(run->task, which, run->features, slowest->candidate_ns, arena);
    if (finding.roofline == ROOFLINE_UNKNOWN)
        return true;
    run->finding = arena_strdup(run->arena, finding.text);
    event_write_finding(&(struct finding_event){.run_id = run->run_id,
                                                .decision_id = decision_id,
                                                .bottleneck = roofline_class_name(finding.roofline),
                                                .text = finding.text,
                                                .number = finding.share},
                        &body);
    return memory_append(&run->memory, EVENT_FINDING, &body, NULL, err);
}

bool step_record_outcome(struct run *run, const char *decision_id, bool is_confirmation,
                         const struct verdict *verdict, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(buf_free) struct buf body = {0};
    struct outcome_event outcome = {.run_id = run->run_id,
                                    .decision_id = decision_id,
                                    .target_id = run->features->id.text,
                                    .task_id = run->task->id.text,
                                    .is_confirmation = is_confirmation,
                                    .verdict = *verdict};
    if (!memory_put_text(&run->memory, verdict->diagnostics ? verdict->diagnostics : "", &scratch,
                         &outcome.diagnostics_body, err))
        return false;
    event_write_outcome(&outcome, &body);
    return memory_append(&run->memory, EVENT_OUTCOME, &body, NULL, err);
}

bool step_judge_decision(struct run *run, int parent, const char *decision_id,
                         const struct decision_event *decision, const struct candidate *candidate,
                         struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct verdict verdict;
    const double race = run->best > 0 ? run->nodes[run->best].low : -(double)INFINITY;
    if (!gate_judge(run->gate, candidate, race, &step, &verdict, err))
        return err_within(err, "judging decision %.12s", decision_id);
    if (!step_record_outcome(run, decision_id, false, &verdict, err))
        return false;
    run->evaluations++;
    run->by_verdict[verdict.kind]++;
    const struct run_node node = {
        .decision_id = decision_id,
        .candidate = *candidate,
        .log_ratio = verdict.log_ratio,
        .low = verdict.log_low,
        .high = verdict.log_high,
        .is_timed = verdict.kind == VERDICT_TIMED,
        .is_win = verdict.kind == VERDICT_TIMED && verdict.is_win,
        .summary = verdict_summary(&verdict, run->arena),
        .evaluation = run->evaluations,
    };
    const int before = run->best;
    (void)step_adopt(run, parent, &node);
    const bool is_new_best = run->best != before;
    if (is_new_best && !record_finding(run, decision_id, &verdict, &step, err))
        return false;
    run_notify(run, PROGRESS_JUDGED,
               &(struct progress){.decision = decision,
                                  .decision_id = decision_id,
                                  .verdict = &verdict,
                                  .is_new_best = is_new_best});
    return true;
}

/* Recent proposals that came to nothing: a proposer that keeps failing ends the run instead of
 * spending it. */
static bool keeps_failing(const struct run *run)
{
    if (run->node_count <= MAX_PROPOSER_FAILURES)
        return false;
    for (size_t i = run->node_count - MAX_PROPOSER_FAILURES; i < run->node_count; i++) {
        if (run->nodes[i].candidate.source[0] != '\0')
            return false;
    }
    return true;
}

static bool fill_request(struct run *run, int node, enum search_step step, struct arena *arena,
                         struct propose_request *request, const char **context_id, struct err *err)
{
    *context_id = "";
    *request = (struct propose_request){
        .parent = &run->nodes[node].candidate,
        .parent_log_ratio = run->nodes[node].log_ratio,
        .large_step = step == STEP_LARGE,
        .tried = run->tried,
        .tried_count = run->tried_count,
        .seed = run->opts.seed * 1000003u + (uint64_t)run->sequence,
        .token_budget = run->opts.token_budget ? run->opts.token_budget - run->tokens : 0,
    };
    if (str_equal(run_proposer_kind(run), "offline"))
        return remember_beliefs(run, arena, &request->beliefs, &request->belief_count, err);
    struct context context;
    if (!prompt_build(run, node, arena, &context, context_id, err))
        return false;
    request->context = context.user_text;
    return true;
}

bool step_search(struct run *run, const char **end_reason, struct err *err)
{
    CLEANUP(arena_free) struct arena step_arena = {0};
    if (keeps_failing(run)) {
        *end_reason = "the proposer failed five times in turn";
        return true;
    }
    for (int attempt = 0; attempt < MAX_EXHAUSTED_IN_TURN; attempt++) {
        int node = SEARCH_ROOT;
        enum search_step step = STEP_SMALL;
        bool exhausted = false;
        const char *context_id = "";
        struct propose_request request;
        struct proposal proposal;
        if (!search_next(run->search, &node, &step)) {
            const char *reason = search_end_reason(run->search);
            *end_reason = reason[0] != '\0' ? arena_strdup(run->arena, reason) : "exhausted";
            return true;
        }
        if (!fill_request(run, node, step, &step_arena, &request, &context_id, err) ||
            !proposer_next(run->proposer, &request, &step_arena, &exhausted, &proposal, err))
            return false;
        if (exhausted) {
            search_tell_exhausted(run->search, node);
            continue;
        }
        const struct step_input input = {.parent = node,
                                         .step = step == STEP_LARGE ? "large" : "small",
                                         .derived_from = "",
                                         .context_id = context_id,
                                         .proposal = &proposal};
        return step_judge(run, &input, err);
    }
    *end_reason = "exhausted";
    return true;
}

#include "engine/dispatch.h"
#include "engine/internal.h"
#include "engine/replay.h"
#include "engine/rivals.h"
#include "engine/sequence.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/os.h"

#include <math.h>

enum {
    MAX_MALFORMED_IN_TURN = 5,
    MAX_FAILED_IN_TURN = 20,
    MAX_REFUSED_IN_TURN = 1000,
    MAX_EXHAUSTED_IN_TURN = 10000
};

static const char *words_of(const struct decision_event *decision, struct arena *arena)
{
    const char *words = "";
    for (size_t i = 0; i < decision->move_count && i < DECISION_MAX_MOVES; i++)
        words = arena_printf(arena, "%s%s%s", words, i == 0 ? "" : " ", decision->moves[i]);
    return words;
}

static void add_tried(struct run *run, const char *what)
{
    run->tried =
        vec_reserve_one(run->tried, run->tried_count, &run->tried_capacity, sizeof *run->tried);
    run->tried[run->tried_count++] = what;
}

bool step_was_tried(const struct run *run, const char *what)
{
    for (size_t i = 0; i < run->tried_count; i++) {
        if (str_equal(run->tried[i], what))
            return true;
    }
    return false;
}

static enum search_step step_of(const struct run_node *node)
{
    const char *step = node->step ? node->step : "";
    return str_equal(step, "small")   ? STEP_SMALL
           : str_equal(step, "large") ? STEP_LARGE
                                      : STEP_GIVEN;
}

int step_adopt(struct run *run, int parent, const struct run_node *node)
{
    const struct search_outcome outcome = {.is_valid = node->is_timed,
                                           .log_ratio = node->log_ratio,
                                           .low = node->low,
                                           .high = node->high,
                                           .step = step_of(node),
                                           .is_dead_end =
                                               node->is_repeat || dispatch_is_one(node->moves)};
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
    if (node->is_timed && node->is_win && !node->confirm_failed && !node->is_repeat &&
        (run->best == 0 || node->log_ratio > run->nodes[run->best].log_ratio))
        run->best = index;
    return index;
}

static void write_decision(const struct run *run, const struct step_input *input,
                           const struct proposal *p, int64_t index, struct decision_event *e)
{
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
        .candidate_id = arena_strdup(run->arena, candidate_id(&p->candidate).text),
        .context_id = input->context_id,
        .derived_from = input->derived_from,
        .tokens_in = p->tokens_in,
        .tokens_out = p->tokens_out,
        .exchange_id = input->exchange_id ? input->exchange_id : "",
        .exchange_index = index,
        .uses = input->uses ? input->uses[index] : "",
        .failure = p->failure ? p->failure : "",
    };
    for (size_t i = 0; i < p->move_count && i < DECISION_MAX_MOVES; i++)
        e->moves[i] = p->moves[i];
}

/* A copy that lives as long as the run. */
static struct decision_event keep_decision(const struct decision_event *e, struct arena *arena)
{
    struct decision_event copy = *e;
    copy.parent = arena_strdup(arena, e->parent);
    copy.step = arena_strdup(arena, e->step);
    copy.intent = arena_strdup(arena, e->intent);
    copy.hypothesis = arena_strdup(arena, e->hypothesis);
    copy.recipe = arena_strdup(arena, e->recipe);
    copy.compiler = arena_strdup(arena, e->compiler);
    copy.failure = arena_strdup(arena, e->failure);
    for (size_t i = 0; i < e->move_count && i < DECISION_MAX_MOVES; i++)
        copy.moves[i] = arena_strdup(arena, e->moves[i]);
    return copy;
}

static bool decide_one(struct run *run, const struct step_input *input, const struct proposal *p,
                       int64_t index, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct hash_id id;
    struct decision_event decision;
    run->sequence++;
    if (!input->exchange_id || input->exchange_id[0] == '\0')
        spend(&run->spent, p->tokens_in + p->tokens_out, true, 0.0);
    write_decision(run, input, p, index, &decision);
    if (!memory_put_text(&run->memory, p->failure ? "" : p->candidate.source, run->arena,
                         &decision.source_body, err) ||
        !memory_put_text(&run->memory, p->exchange_json ? p->exchange_json : "", run->arena,
                         &decision.exchange_body, err))
        return false;
    event_write_decision(&decision, &body);
    if (!memory_append(&run->memory, EVENT_DECISION, &body, &id, err))
        return false;
    struct queue *queue = &run->queue;
    queue->items =
        vec_reserve_one(queue->items, queue->count, &queue->capacity, sizeof *queue->items);
    struct queued *queued = &queue->items[queue->count++];
    *queued = (struct queued){.parent = input->parent,
                              .decision_id = arena_strdup(run->arena, id.text),
                              .decision = keep_decision(&decision, run->arena),
                              .candidate = {.source = "", .recipe = ""},
                              .is_failure = p->failure != NULL,
                              .is_well_formed = p->is_well_formed};
    if (!p->failure)
        queued->candidate = candidate_copy(&p->candidate, run->arena);
    return true;
}

/* Several that wait to be judged are built side by side, before anything is timed; not those that a
 * rule will refuse. */
static bool build_queued(struct run *run, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct queue *queue = &run->queue;
    const struct candidate **waiting =
        arena_array(&scratch, queue->count, sizeof(struct candidate *));
    size_t count = 0;
    if (run->replay || !run->gate || queue->count - queue->next < 2)
        return true;
    for (size_t i = queue->next; i < queue->count; i++) {
        const struct queued *queued = &queue->items[i];
        struct rule_hit hit;
        if (queued->is_failure)
            continue;
        if (!rulebook_ask(&run->rulebook, &queued->candidate, queued->decision_id, &hit, err))
            return false;
        if (!hit.rule || hit.is_trial)
            waiting[count++] = &queued->candidate;
    }
    return count < 2 || gate_build_ahead(run->gate, waiting, count, err);
}

bool step_decide(struct run *run, const struct step_input *input, struct err *err)
{
    int64_t index = 0;
    for (const struct proposal *p = input->proposal; p; p = p->next, index++) {
        if (index >= input->first_index && !decide_one(run, input, p, index, err))
            return false;
    }
    return build_queued(run, err);
}

bool step_judge_queued(struct run *run, bool *judged, struct err *err)
{
    struct queue *queue = &run->queue;
    *judged = queue->next < queue->count;
    if (!*judged)
        return true;
    const struct queued queued = queue->items[queue->next++];
    if (queue->next == queue->count)
        queue->next = queue->count = 0;
    run_notify(run, PROGRESS_PROPOSED,
               &(struct progress){.decision = &queued.decision, .decision_id = queued.decision_id});
    if (queued.is_failure) {
        /* Paid for and kept; there is nothing to judge. */
        const struct run_node failed = {.decision_id = queued.decision_id,
                                        .code_id = "",
                                        .moves = "",
                                        .step = queued.decision.step,
                                        .candidate = queued.candidate};
        (void)step_adopt(run, queued.parent, &failed);
        run->failed_in_turn++;
        run->malformed_in_turn = queued.is_well_formed ? 0 : run->malformed_in_turn + 1;
        return true;
    }
    const int64_t saved = run->builds_saved;
    if (!step_judge_decision(run, queued.parent, queued.decision_id, &queued.decision,
                             &queued.candidate, err))
        return false;
    /* What a rule refuses takes nothing from the budget: it must end otherwise. */
    const bool is_refused = run->builds_saved != saved;
    const bool is_paid = !str_equal(run_proposer_kind(run), "offline");
    run->refused_in_turn = is_refused ? run->refused_in_turn + 1 : 0;
    run->failed_in_turn = is_refused && is_paid ? run->failed_in_turn + 1 : 0;
    run->malformed_in_turn = 0;
    return true;
}

bool step_judge(struct run *run, const struct step_input *input, struct err *err)
{
    bool judged = true;
    if (!step_decide(run, input, err))
        return false;
    while (judged) {
        if (!step_judge_queued(run, &judged, err))
            return false;
    }
    return true;
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

static bool record_finding(struct run *run, const char *decision_id,
                           const struct candidate *candidate, const struct verdict *verdict,
                           struct arena *arena, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    const struct case_result *slowest = NULL;
    const struct task_case *which = NULL;
    struct profiled profiled = {.candidate = candidate, .roofline = {.text = ""}};
    const struct roofline *roofline = &profiled.roofline;
    if (run_slowest_case(run->task, verdict->cases, verdict->case_count, &slowest, &which)) {
        profiled.roofline =
            profile_roofline(run->task, which, run->features, slowest->candidate_ns, arena);
        profiled.slowest_case = which->name;
        profiled.call_ns = slowest->candidate_ns;
    }
    if (roofline->roofline != ROOFLINE_UNKNOWN) {
        run->finding = arena_strdup(run->arena, roofline->text);
        run->bottleneck = roofline_class_name(roofline->roofline);
        event_write_finding(&(struct finding_event){.run_id = run->run_id,
                                                    .decision_id = decision_id,
                                                    .bottleneck = run->bottleneck,
                                                    .text = roofline->text,
                                                    .number = roofline->share},
                            &body);
        if (!memory_append(&run->memory, EVENT_FINDING, &body, NULL, err))
            return false;
    }
    return run_note_profile(run, decision_id, &profiled, arena, err);
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

/* By a rule where one refuses it, else by the gate. */
static bool judge_here(struct run *run, const char *decision_id, const struct candidate *candidate,
                       double race, struct arena *arena, struct verdict *out, struct err *err)
{
    struct rule_hit hit;
    if (!rulebook_ask(&run->rulebook, candidate, decision_id, &hit, err))
        return false;
    if (hit.rule && !hit.is_trial) {
        rulebook_refuse(&run->rulebook, &hit, arena, out);
        out->gate_id = run->gate_id;
        return true;
    }
    if (!hit.rule && known_find(run, candidate, false, arena, out))
        return true;
    if (run->opts.records)
        race = -(double)INFINITY;
    return run_need_gate(run, err) && gate_judge(run->gate, candidate, race, arena, out, err) &&
           (!hit.rule || rulebook_settle(&run->rulebook, &hit, decision_id, out, err));
}

static bool judge(struct run *run, const char *decision_id, const struct candidate *candidate,
                  double race, struct arena *arena, struct verdict *out, struct err *err)
{
    bool found = false;
    if (!run->replay)
        return judge_here(run, decision_id, candidate, race, arena, out, err);
    if (!replay_verdict(run, decision_id, false, arena, &found, out, err))
        return false;
    return found || err_set(err, ERR_INTERRUPTED, "the record ends before it was judged");
}

void run_count_outcome(struct run *run, enum verdict_kind kind, const char *mechanism)
{
    const bool is_evaluation = verdict_is_evaluation(mechanism);
    run->builds_saved += str_equal(mechanism, VERDICT_BY_RULE);
    run->repeats += str_equal(mechanism, VERDICT_BY_REPEAT);
    run->evaluations += is_evaluation;
    run->by_verdict[kind] += is_evaluation;
    if (is_evaluation)
        run->repeats_in_turn = 0;
    else
        run->repeats_in_turn += str_equal(mechanism, VERDICT_BY_REPEAT);
}

bool step_judge_decision(struct run *run, int parent, const char *decision_id,
                         const struct decision_event *decision, const struct candidate *candidate,
                         struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct verdict verdict;
    /* One that chooses by a size may be slower in a case than the best is on average. */
    const bool is_racing = run->best > 0 && !str_equal(decision->step, DISPATCH_STEP);
    const double race = is_racing ? run->nodes[run->best].low : -(double)INFINITY;
    const int64_t start_ns = os_wall_ns();
    if (!judge(run, decision_id, candidate, race, &step, &verdict, err))
        return err_within(err, "judging decision %.12s", decision_id);
    if (!run->replay)
        repeat_mark(run, &step, &verdict);
    spans_judged(run, decision_id, decision, &verdict, start_ns);
    if (!step_record_outcome(run, decision_id, false, &verdict, err))
        return false;
    run_count_outcome(run, verdict.kind, verdict.mechanism);
    struct sequence_words made_by;
    if (!sequence_of_step(run->memory.graph, words_of(decision, run->arena), decision->derived_from,
                          run->arena, &made_by, err))
        return false;
    struct run_node node = {
        .decision_id = decision_id,
        .candidate = *candidate,
        .log_ratio = verdict.log_ratio,
        .low = verdict.log_low,
        .high = verdict.log_high,
        .step = decision->step,
        .moves = made_by.text,
        .is_restart = propose_is_restart(decision->intent),
        .is_timed = verdict.kind == VERDICT_TIMED,
        .is_win = verdict.kind == VERDICT_TIMED && verdict.is_win,
        .is_whole = known_is_full(run->task, verdict.kind, verdict.case_count, false),
        .summary = verdict_summary(&verdict, run->arena),
        .evaluation = run->evaluations,
    };
    repeat_note(&node, verdict.kind, verdict.mechanism,
                arena_strdup(run->arena, verdict.code_id.text));
    const int before = run->best;
    (void)step_adopt(run, parent, &node);
    const bool is_new_best = run->best != before;
    if (is_new_best && !record_finding(run, decision_id, candidate, &verdict, &step, err))
        return false;
    run_notify(run, PROGRESS_JUDGED,
               &(struct progress){.decision = decision,
                                  .decision_id = decision_id,
                                  .verdict = &verdict,
                                  .is_new_best = is_new_best});
    return true;
}

/* A proposer that keeps failing ends the run instead of spending it. One that is not understood, or
 * refuses, has little hope; one whose edits miss is told so in the next prompt. */
static const char *keeps_failing(const struct run *run)
{
    const int64_t at_once = run->opts.proposals;
    if (run->replay) /* ends where the record does */
        return NULL;
    if (run->malformed_in_turn >= MAX_MALFORMED_IN_TURN * at_once)
        return "the proposer failed five times in turn";
    if (run->failed_in_turn >= MAX_FAILED_IN_TURN * at_once)
        return "twenty proposals in turn came to nothing";
    if (run->refused_in_turn >= MAX_REFUSED_IN_TURN)
        return "a thousand candidates in turn were refused by rules";
    return NULL;
}

static const char *make_prompt(const struct context *context, struct propose_request *request,
                               struct arena *arena)
{
    struct propose_prompt *prompt = arena_alloc(arena, sizeof *prompt);
    *prompt = (struct propose_prompt){.system = context->system_text,
                                      .facts = context->facts,
                                      .task = context->task_text,
                                      .experience = context->experience,
                                      .now = context->hot};
    request->prompt = prompt;
    return context->user_text;
}

static bool believe(struct run *run, int node, struct arena *arena, struct propose_request *request,
                    struct err *err)
{
    const char *decision_id = run->nodes[node].decision_id;
    struct move_belief *beliefs = NULL;
    if (!remember_beliefs(run, arena, &beliefs, &request->belief_count, err))
        return false;
    request->restart_beliefs =
        arena_memdup(arena, beliefs, request->belief_count * sizeof *beliefs);
    if (!rivals_believe(run, node, arena, beliefs, request->belief_count, err) ||
        (run->opts.use_findings &&
         !answers_believe(run, decision_id, arena, beliefs, request->belief_count, err)))
        return false;
    request->beliefs = beliefs;
    return true;
}

bool step_fill_request(struct run *run, int node, bool large_step, const char *recorded_context,
                       struct arena *arena, struct propose_request *request,
                       const char **context_id, struct err *err)
{
    struct llm_budget *budget = arena_alloc(arena, sizeof *budget);
    struct propose_record *record = arena_alloc(arena, sizeof *record);
    *budget = exchange_budget(run);
    *record = exchange_record(run);
    *context_id = "";
    *request = (struct propose_request){
        .parent = &run->nodes[node].candidate,
        .parent_log_ratio = run->nodes[node].log_ratio,
        .large_step = large_step,
        .tried = run->tried,
        .tried_count = run->tried_count,
        .seed = run->opts.seed * 1000003u + (uint64_t)run->sequence,
        .budget = budget,
        .record = record,
    };
    run->exchanges.last_id = "";
    run->exchanges.context_id = "";
    run->exchanges.parent = run->nodes[node].decision_id;
    run->exchanges.step = large_step ? "large" : "small";
    if (str_equal(run_proposer_kind(run), "offline"))
        return believe(run, node, arena, request, err);
    struct context *context = arena_alloc(arena, sizeof *context);
    if (!prompt_build(run, node, recorded_context, arena, context, context_id, err))
        return false;
    run->exchanges.context_id = *context_id;
    if (str_equal(run_proposer_kind(run), "agent") &&
        !skill_files(run, arena, &request->skills, &request->skill_count, err))
        return false;
    request->context = make_prompt(context, request, arena);
    return true;
}

/* Labels of experience as the ids behind them; a name that stands for nothing stays as it is. */
static const char *uses_of(const struct run *run, const struct proposal *p)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < p->use_count; i++) {
        const char *ref = context_label_ref(run->epoch.items, run->epoch.item_count, p->uses[i]);
        (void)buf_printf(&text, "%s%s", i == 0 ? "" : " ", ref ? ref : p->uses[i]);
    }
    return arena_strdup(run->arena, buf_text(&text));
}

const char *const *step_uses(const struct run *run, const struct proposal *first)
{
    size_t count = 0;
    for (const struct proposal *p = first; p; p = p->next)
        count++;
    const char **uses = arena_array(run->arena, count, sizeof *uses);
    count = 0;
    for (const struct proposal *p = first; p; p = p->next)
        uses[count++] = uses_of(run, p);
    return uses;
}

/* A node, a proposal or several, the first of them judged. */
static bool propose_and_judge(struct run *run, int node, enum search_step step, bool *exhausted,
                              struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *context_id = "";
    bool judged = false;
    struct propose_request request;
    struct proposal proposal;
    if (!step_fill_request(run, node, step == STEP_LARGE, NULL, &arena, &request, &context_id,
                           err) ||
        !proposer_next(run->proposer, &request, &arena, exhausted, &proposal, err))
        return false;
    if (*exhausted)
        return true;
    const struct step_input input = {.parent = node,
                                     .step = step == STEP_LARGE ? "large" : "small",
                                     .derived_from = "",
                                     .context_id = context_id,
                                     .exchange_id = run->exchanges.last_id,
                                     .uses = step_uses(run, &proposal),
                                     .proposal = &proposal};
    return step_decide(run, &input, err) && step_judge_queued(run, &judged, err);
}

static bool search_once(struct run *run, const char **end_reason, struct err *err)
{
    bool judged = false;
    if (!step_judge_queued(run, &judged, err))
        return false;
    if (judged)
        return true;
    *end_reason = keeps_failing(run);
    if (*end_reason)
        return true;
    for (int attempt = 0; attempt < MAX_EXHAUSTED_IN_TURN; attempt++) {
        int node = SEARCH_ROOT;
        enum search_step step = STEP_SMALL;
        bool exhausted = false;
        if (!search_next(run->search, &node, &step)) {
            const char *reason = search_end_reason(run->search);
            *end_reason = reason[0] != '\0' ? arena_strdup(run->arena, reason) : "exhausted";
            return true;
        }
        if (!propose_and_judge(run, node, step, &exhausted, err))
            return false;
        if (!exhausted)
            return true;
        search_tell_exhausted(run->search, node);
    }
    *end_reason = "exhausted";
    return true;
}

bool step_search(struct run *run, const char **end_reason, struct err *err)
{
    spans_step_begin(run);
    const bool ok = search_once(run, end_reason, err);
    spans_step_end(run, ok ? NULL : err_kind_name(err->kind));
    return ok;
}

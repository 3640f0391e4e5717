#include "engine/internal.h"
#include "engine/sequence.h"

#include "base/str.h"

/* The node that a decision of this run became; the root for "" and for parents that are unknown. */
static int node_of(const struct run *run, const char *decision_id)
{
    for (size_t i = 1; i < run->node_count; i++) {
        if (str_equal(run->nodes[i].decision_id, decision_id))
            return (int)i;
    }
    return SEARCH_ROOT;
}

static bool candidate_of(struct run *run, const struct graph_decision *d, struct candidate *out,
                         struct err *err)
{
    *out = (struct candidate){.compiler = d->compiler[0] != '\0' ? d->compiler : NULL,
                              .recipe = d->recipe[0] != '\0' ? d->recipe : NULL,
                              .source = ""};
    if (!candidate_parse_flags(d->flags, run->arena, out))
        return err_set(err, ERR_CORRUPT, "decision %.12s has too many flags", d->id);
    return memory_get_text(&run->memory, d->source_body, run->arena, &out->source, err);
}

/* As the run itself said it when it was judged. */
static const char *summary_of(const struct graph_decision *d, struct arena *arena)
{
    if (!d->has_outcome)
        return "";
    const struct verdict verdict = {.kind = d->kind,
                                    .mechanism = d->mechanism,
                                    .evidence = d->evidence,
                                    .log_ratio = d->log_ratio,
                                    .log_low = d->log_low,
                                    .log_high = d->log_high,
                                    .is_win = d->is_win,
                                    .case_count = 1};
    return verdict_summary(&verdict, arena);
}

static bool was_whole(struct run *run, const struct graph_decision *d, bool *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct case_result *cases = NULL;
    size_t count = 0;
    if (!graph_outcome_cases(run->memory.graph, d->id, false, &scratch, &cases, &count, err))
        return false;
    *out = known_is_full(run->task, d->kind, count, false);
    return true;
}

static bool adopt(struct run *run, const struct graph_decision *d, struct err *err)
{
    struct run_node node = {.decision_id = d->id,
                            .log_ratio = d->log_ratio,
                            .low = d->log_low,
                            .high = d->log_high,
                            .step = d->step,
                            .is_timed = d->has_outcome && d->kind == VERDICT_TIMED,
                            .is_win = d->is_win,
                            .confirm_failed = d->confirm_failed,
                            .code_id = "",
                            .is_restart = propose_is_restart(d->intent),
                            .summary = summary_of(d, run->arena)};
    struct sequence_words made_by;
    if (!candidate_of(run, d, &node.candidate, err) ||
        !sequence_of_step(run->memory.graph, d->moves, d->derived_from, run->arena, &made_by, err))
        return false;
    node.moves = made_by.text;
    if (d->exchange_id[0] == '\0') /* else it is counted with its exchange */
        spend(&run->spent, d->tokens_in + d->tokens_out, true, 0.0);
    if (d->sequence > run->sequence)
        run->sequence = d->sequence;
    if (!d->has_outcome && d->failure[0] == '\0') {
        /* Proposed and paid for, but not judged before the end came. */
        struct decision_event decision = {.run_id = run->run_id,
                                          .parent = d->parent,
                                          .sequence = d->sequence,
                                          .step = d->step,
                                          .proposer = d->proposer,
                                          .intent = d->intent,
                                          .hypothesis = d->hypothesis,
                                          .predicted_log_ratio = d->predicted_log_ratio,
                                          .derived_from = d->derived_from,
                                          .recipe = d->recipe,
                                          .compiler = d->compiler,
                                          .flags = d->flags};
        decision.move_count =
            sequence_names(d->moves, run->arena, decision.moves, DECISION_MAX_MOVES);
        return step_judge_decision(run, node_of(run, d->parent), d->id, &decision, &node.candidate,
                                   err);
    }
    if (d->has_outcome) {
        if (!was_whole(run, d, &node.is_whole, err))
            return false;
        run_count_outcome(run, d->kind, d->mechanism);
        repeat_note(&node, d->kind, d->mechanism, d->code_id);
        node.evaluation = run->evaluations;
    }
    (void)step_adopt(run, node_of(run, d->parent), &node);
    return true;
}

bool resume_find(struct run *run, const char *which, struct graph_run *record, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    if (!memory_open(run->opts.memory_dir, true, run->arena, &memory, err) ||
        !graph_find_run(memory.graph, which, run->arena, record, err))
        return false;
    if (record->has_ended && !str_equal(record->end_reason, "interrupted") &&
        !str_starts_with(record->end_reason, "error:")) {
        (void)err_set(err, ERR_USAGE, "run %.12s has ended (%s)", record->id, record->end_reason);
        return err_hint(
            err, "start a new one with 'kope optimize %s': it begins at the best known candidate",
            record->task_dir);
    }
    run->opts.task_path = record->task_dir;
    run->opts.policy = record->policy;
    run->opts.proposer = record->proposer;
    run->opts.budget = record->budget;
    run->opts.time_limit_ns = record->time_limit_ns;
    run->opts.token_budget = record->token_budget;
    run->opts.seed = record->seed;
    run->opts.has_seed = true;
    run->earlier_ns = record->run_ns;
    return models_read_settings(run, record->settings, err);
}

/* What the process that ended knew besides its decisions. */
static bool restore(struct run *run, struct err *err)
{
    const struct graph_finding *findings = NULL;
    size_t count = 0;
    bool found = false;
    struct graph_context context;
    if (!graph_findings(run->memory.graph, run->run_id, run->arena, &findings, &count, err) ||
        !graph_last_context(run->memory.graph, run->run_id, run->arena, &found, &context, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!run_is_roofline(findings[i].bottleneck))
            continue;
        run->finding = findings[i].text;
        run->bottleneck = findings[i].bottleneck;
    }
    if (!found)
        return true;
    const char *text = NULL;
    if (!memory_get_text(&run->memory, context.text_body, run->arena, &text, err))
        return false;
    context_epoch_restore(&run->epoch, text,
                          run->contract ? run->contract : propose_reply_contract(), context.items,
                          context.item_count);
    return true;
}

bool resume_adopt(struct run *run, const struct graph_run *record, struct err *err)
{
    struct graph_decisions decisions;
    if (!str_equal(run->task->id.text, record->task_id)) {
        (void)err_set(err, ERR_BAD_INPUT, "task '%s' has changed since run %.12s", record->task_dir,
                      record->id);
        return err_hint(err, "start a new run with 'kope optimize %s'", record->task_dir);
    }
    run->run_id = record->id;
    if (!graph_run_decisions(run->memory.graph, record->id, run->arena, &decisions, err))
        return false;
    if (!restore(run, err))
        return false;
    for (size_t i = 0; i < decisions.count; i++) {
        if (!adopt(run, &decisions.items[i], err))
            return false;
    }
    run_notify(run, PROGRESS_STARTED, NULL);
    if (!run->proposer || str_equal(run_proposer_kind(run), "offline"))
        return true;
    return exchange_take_up(run, &decisions, err);
}

bool engine_resume(const char *which, const struct optimize_opts *opts,
                   const struct observer *observer, struct arena *arena,
                   struct optimize_result *out, struct err *err)
{
    struct run run = {.opts = {.memory_dir = opts->memory_dir,
                               .records = opts->records,
                               .case_ns = opts->case_ns,
                               .confirm_ns = opts->confirm_ns,
                               .half_width = opts->half_width},
                      .observer = observer,
                      .arena = arena};
    struct optimize_result result = {0};
    struct graph_run record;
    if (!resume_find(&run, which, &record, err))
        return false;
    if (str_equal(record.proposer, "mcp")) {
        (void)err_set(err, ERR_UNSUPPORTED, "run %.12s is driven by an MCP client", record.id);
        return err_hint(err, "the client goes on with it: kope_open_task, resume: \"%.12s\"",
                        record.id);
    }
    const bool ok =
        run_open(&run, err) && resume_adopt(&run, &record, err) && run_loop(&run, &result, err);
    run_close(&run);
    if (ok)
        *out = result;
    return ok;
}

#include "engine/dispatch.h"
#include "engine/internal.h"
#include "engine/replay.h"

#include "base/str.h"
#include "os/os.h"

#include <math.h>

enum { MAX_CONFIRMATIONS = 4 };
#define LEARN_LIMIT_NS (INT64_C(20) * 1000 * 1000 * 1000)

static int64_t elapsed_ns(const struct run *run)
{
    return os_now_ns() - run->started_ns + run->earlier_ns;
}

/* The best win whose confirmation has not failed; 0 where there is none. */
static int best_standing(const struct run *run)
{
    int best = 0;
    for (size_t i = 1; i < run->node_count; i++) {
        const struct run_node *node = &run->nodes[i];
        if (node->is_timed && node->is_win && !node->confirm_failed && !node->is_repeat &&
            (best == 0 || node->log_ratio > run->nodes[best].log_ratio))
            best = (int)i;
    }
    return best;
}

int64_t run_reserve_ns(const struct run *run)
{
    enum { MOST_OF_LIMIT = 3 }; /* the search has the rest, whatever was foretold */
    if (!run->gate || best_standing(run) == 0)
        return 0;
    const int64_t wanted = gate_forecast_confirm_ns(run->gate);
    const int64_t most = run->opts.time_limit_ns / MOST_OF_LIMIT;
    return run->opts.time_limit_ns && most < wanted ? most : wanted;
}

int64_t run_left_ns(const struct run *run)
{
    return run->opts.time_limit_ns ? run->opts.time_limit_ns - elapsed_ns(run) - run_reserve_ns(run)
                                   : INT64_MAX;
}

const char *run_limit_reached(const struct run *run)
{
    if (os_interrupted())
        return "interrupted";
    if (run->replay) { /* the result outlives the record */
        const char *reason = run->queue.count == 0 ? replay_end_reason(run->replay) : NULL;
        return reason ? arena_strdup(run->arena, reason) : NULL;
    }
    if (run->evaluations >= run->opts.budget)
        return "budget";
    if (run_left_ns(run) <= 0)
        return "time";
    if (run->opts.token_budget && run->spent.tokens >= run->opts.token_budget)
        return "tokens";
    if (run->opts.cost_budget_usd > 0.0 && run->spent.cost_usd >= run->opts.cost_budget_usd)
        return "money";
    return NULL;
}

static bool confirm(struct run *run, int node, bool *found, struct verdict *out, struct err *err)
{
    if (run->replay)
        return replay_verdict(run, run->nodes[node].decision_id, true, run->arena, found, out, err);
    if (known_find(run, &run->nodes[node].candidate, true, run->arena, out))
        return true;
    return run_need_gate(run, err) &&
           gate_confirm(run->gate, &run->nodes[node].candidate, run->arena, out, err);
}

/* Winners are judged again on a clean build, a new seed and the held-out shapes; one that does not
 * hold gives way to the next best. */
static bool confirm_best(struct run *run, struct optimize_result *out, struct err *err)
{
    for (int attempt = 0; attempt < MAX_CONFIRMATIONS && !os_interrupted(); attempt++) {
        struct verdict verdict;
        run->best = best_standing(run);
        if (run->best == 0)
            return true;
        run_stage(run, "confirming the best on a clean build, a new seed and held-out shapes");
        const int64_t start_ns = os_wall_ns();
        bool found = true;
        if (!confirm(run, run->best, &found, &verdict, err))
            return err_within(err, "confirming decision %.12s", run->nodes[run->best].decision_id);
        if (!found) /* the record ends before */
            return true;
        spans_judged(run, run->nodes[run->best].decision_id, NULL, &verdict, start_ns);
        if (!step_record_outcome(run, run->nodes[run->best].decision_id, true, &verdict, err))
            return false;
        run_notify(run, PROGRESS_CONFIRMED,
                   &(struct progress){.verdict = &verdict,
                                      .text = verdict_summary(&verdict, run->arena),
                                      .decision_id = run->nodes[run->best].decision_id});
        out->confirmation = verdict;
        out->has_confirmation = true;
        if (verdict.confirmed) {
            out->has_win = true;
            return true;
        }
        run->nodes[run->best].confirm_failed = true;
    }
    run->best = 0;
    return true;
}

bool run_record_end(struct run *run, const char *reason, const struct optimize_result *result,
                    struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    event_write_run_end(
        &(struct run_end_event){
            .run_id = run->run_id,
            .reason = reason,
            .best_decision = result->has_win ? run->nodes[run->best].decision_id : "",
            .best_log_ratio = result->has_win ? result->confirmation.log_ratio : 0.0,
            .evaluations = run->evaluations,
            .wall_ns = elapsed_ns(run),
            .tokens = run->spent.tokens,
        },
        &body);
    return memory_append(&run->memory, EVENT_RUN_END, &body, NULL, err);
}

struct stats_calibration run_calibration(const struct graph_decision *all, size_t count,
                                         struct arena *arena)
{
    double *predicted = arena_array(arena, count + 1, sizeof *predicted);
    double *measured = arena_array(arena, count + 1, sizeof *measured);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct graph_decision *d = &all[i];
        /* A remembered candidate repeats what was measured; a gain needs both ends timed. */
        if (!d->has_outcome || d->kind != VERDICT_TIMED || str_equal(d->step, "remembered") ||
            !d->has_gain)
            continue;
        predicted[used] = d->predicted_log_ratio;
        measured[used++] = d->gain;
    }
    return stats_calibrate(predicted, measured, used);
}

static bool fill_result(struct run *run, const char *reason, struct optimize_result *out,
                        struct err *err)
{
    out->run_id = run->run_id;
    out->end_reason = reason;
    out->task_name = run->task->name;
    out->baseline = run_baseline_text(run->target, run->arena);
    out->evaluations = run->evaluations;
    out->evaluations_to_best = run->best > 0 ? run->nodes[run->best].evaluation : 0;
    out->wall_ns = elapsed_ns(run);
    memcpy(out->by_verdict, run->by_verdict, sizeof out->by_verdict);
    out->builds_saved = run->builds_saved;
    out->repeats = run->repeats;
    out->started_from_memory = run->started_from_memory;
    out->start_text = run->start_text;
    spans_close(run, reason, out);
    if (trace_problem(run->trace))
        out->trace_problem = arena_strdup(run->arena, trace_problem(run->trace));
    out->is_replay = run->replay != NULL;
    if (run->replay)
        replay_count(run->replay, &out->replayed_prompts, &out->replayed_decisions);
    out->tokens = run->spent.tokens;
    out->is_cost_known = run->spent.is_cost_known;
    out->cost_usd = run->spent.cost_usd;
    struct graph_decisions all;
    if (!graph_run_decisions(run->memory.graph, run->run_id, run->arena, &all, err))
        return false;
    out->calibration = run_calibration(all.items, all.count, run->arena);
    if (!dispatch_text(run, &out->dispatch, err))
        return false;
    if (!out->has_win)
        return true;
    out->best_source = run->nodes[run->best].candidate.source;
    out->prelude = task_prelude_for(run->task, out->best_source, run->arena);
    for (size_t i = 0; i < all.count; i++) {
        if (str_equal(all.items[i].id, run->nodes[run->best].decision_id))
            out->best = all.items[i];
    }
    return true;
}

/* Why an error only ends the search: what it found is confirmed and reported all the same. NULL for
 * an error that ends the run. */
static const char *reason_of(const struct run *run, const struct err *err)
{
    if (err->kind == ERR_INTERRUPTED)
        return "interrupted";
    if (err->kind == ERR_BUDGET && run->opts.cost_budget_usd > 0.0 && !run->opts.token_budget)
        return "money";
    if (err->kind == ERR_BUDGET && run->opts.token_budget)
        return "tokens";
    if (err->kind == ERR_BUDGET || err->kind == ERR_NETWORK)
        return arena_printf(run->arena, "error: %s", err->message);
    return NULL;
}

/* A step of the search; before the last one, and after them all, one that chooses by a size. */
static bool step(struct run *run, const char **reason, struct err *err)
{
    bool made = false;
    if (!dispatch_try(run, false, &made, err))
        return false;
    if (made)
        return true;
    if (!step_search(run, reason, err))
        return false;
    return !*reason || dispatch_try(run, true, &made, err);
}

bool run_loop(struct run *run, struct optimize_result *out, struct err *err)
{
    const char *reason = run_limit_reached(run);
    while (!reason) {
        if (!step(run, &reason, err)) {
            reason = reason_of(run, err);
            if (!reason)
                return false;
        }
        if (!reason)
            reason = run_limit_reached(run);
    }
    return run_end(run, reason, out, err);
}

/* What failed in this run may suffice for a rule. A run whose end was written does not fail of it.
 */
static void learn_rules(struct run *run, struct optimize_result *out)
{
    static const struct rulebook_limits limits = {.most_ns = LEARN_LIMIT_NS};
    struct rulebook_lesson lesson = {0};
    struct err problem = {0};
    if (run->replay || os_interrupted() ||
        run->by_verdict[VERDICT_BUILD_FAILED] + run->by_verdict[VERDICT_REJECTED] == 0)
        return;
    run_stage(run, "looking for rules in what failed");
    if (!rulebook_learn(&run->rulebook, &limits, &lesson, &problem))
        out->rules_problem = arena_strdup(run->arena, problem.message);
    out->rules_learned = (int64_t)lesson.learned;
}

bool run_end(struct run *run, const char *reason, struct optimize_result *out, struct err *err)
{
    /* An interrupted run is left open for `kope resume`; what it found stands in the journal. */
    if (!os_interrupted() && !(dispatch_note(run, err) && confirm_best(run, out, err))) {
        if (err->kind != ERR_INTERRUPTED)
            return false;
    }
    if (os_interrupted()) {
        reason = "interrupted";
        out->has_win = false;
        run->best = best_standing(run);
    }
    if (!run_record_end(run, reason, out, err) || !skill_note_reuses(run, err) ||
        !fill_result(run, reason, out, err))
        return false;
    learn_rules(run, out);
    run_notify(run, PROGRESS_ENDED, &(struct progress){.text = reason});
    return true;
}

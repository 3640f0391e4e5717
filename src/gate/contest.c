/*
 * Two candidates against each other. Both are judgements of their own until both are right; then
 * b's is timed with a's image as its rival in place of the baseline, which keeps running beside
 * them to check both.
 */
#include "gate/internal.h"

#include "base/str.h"
#include "os/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gate_contest {
    struct gate *gate;
    struct contest_opts opts;
    struct judgement a, b; /* as checked */
};

static bool has_case(const struct task *task, const char *name)
{
    for (size_t i = 0; i < task->case_count; i++)
        if (str_equal(task->cases[i].name, name))
            return true;
    return false;
}

static bool prepare(struct gate_contest *contest, struct judgement *j,
                    const struct candidate *candidate, struct arena *arena, struct verdict *out,
                    struct err *err)
{
    struct gate *gate = contest->gate;
    const int64_t start = os_now_ns();
    *out = (struct verdict){.mechanism = "",
                            .evidence = "",
                            .diagnostics = "",
                            .gate_id = gate->id,
                            .missing_layers =
                                arena_strdup(arena, target_missing_layers(gate->target))};
    *j = (struct judgement){.gate = gate,
                            .arena = arena,
                            .out = out,
                            .race_log_ratio = -HUGE_VAL,
                            .only_case = contest->opts.only_case,
                            .is_confirmation = contest->opts.confirm};
    const bool ok = judgement_prepare(j, candidate, err);
    out->timings.total_ns = os_now_ns() - start;
    return ok;
}

bool gate_contest_open(struct gate *gate, const struct candidate *a, const struct candidate *b,
                       const struct contest_opts *opts, struct arena *arena,
                       struct verdict verdicts[2], struct gate_contest **out, struct err *err)
{
    CLEANUP(gate_contest_close) struct gate_contest *contest = calloc(1, sizeof *contest);
    if (!contest)
        BUG("gate: out of memory");
    contest->gate = gate;
    contest->opts = opts ? *opts : (struct contest_opts){0};
    if (contest->opts.only_case && !has_case(gate->task, contest->opts.only_case)) {
        (void)err_set(err, ERR_NOT_FOUND, "task '%s' has no case '%s'", gate->task->name,
                      contest->opts.only_case);
        return err_hint(err, "'kope task check' lists its cases");
    }
    struct verdict checked[2] = {{0}};
    if (!prepare(contest, &contest->a, a, arena, &checked[0], err))
        return err_within(err, "checking A");
    if (!prepare(contest, &contest->b, b, arena, &checked[1], err))
        return err_within(err, "checking B");
    const bool both = !contest->a.is_decided && !contest->b.is_decided;
    verdicts[0] = checked[0];
    verdicts[1] = checked[1];
    contest->a.out = contest->b.out = NULL;
    *out = both ? contest : NULL;
    if (both)
        contest = NULL;
    return true;
}

void gate_contest_close(struct gate_contest **contest)
{
    free(*contest);
    *contest = NULL;
}

bool gate_contest_time(struct gate_contest *contest, struct arena *arena, struct verdict *out,
                       bool *about_a, struct err *err)
{
    struct gate *gate = contest->gate;
    const bool confirm = contest->opts.confirm;
    const struct contest_opts *o = &contest->opts;
    const struct gate_opts wanted = {
        .time_budget_ns = o->time_budget_ns ? o->time_budget_ns : (confirm ? 10 : 3) * GATE_S,
        .max_pairs = o->max_pairs ? o->max_pairs
                     : confirm    ? 400
                                  : 1000,
        .half_width = o->half_width > 0 ? o->half_width
                      : confirm         ? 0.005
                                        : 0.01,
    };
    const int64_t start = os_now_ns();
    struct verdict verdict = {.kind = VERDICT_TOO_NOISY,
                              .mechanism = "",
                              .evidence = "",
                              .diagnostics = "",
                              .gate_id = gate->id,
                              .missing_layers =
                                  arena_strdup(arena, target_missing_layers(gate->target))};
    struct judgement j = contest->b;
    j.arena = arena;
    j.out = &verdict;
    j.rival = contest->a.image;
    j.plan = timing_plan_for(&wanted, confirm);
    j.plan.block_pairs = 12;
    j.plan.patience_ns = j.plan.budget_ns / 3 * 2;
    j.plan.warm_up_ns = 100 * GATE_MS;
    j.plan.has_cold = o->has_cold;
    memcpy(j.rival_ns, contest->a.fastest_ns, sizeof j.rival_ns);
    if (!judgement_measure(&j, err))
        return err_within(err, "timing two candidates of '%s'", gate->task->name);
    verdict.timings.total_ns = os_now_ns() - start;
    *about_a = j.is_decided && j.rival_decided;
    *out = verdict;
    return true;
}

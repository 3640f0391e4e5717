/*
 * What is known before it is measured: machine code that was judged on this task under the same
 * gate, here or, for a suite, in the memories of its other runs; there also the very candidate,
 * which then is not even built. The gate is opened when something is to be judged that nobody
 * knows.
 */
#include "engine/internal.h"
#include "engine/replay.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>

/* Of a case, in the confirmation at the end of a run; `kope check --confirm` takes the gate's
 * default. */
#define CONFIRM_BUDGET_NS INT64_C(3000000000)

/* --- candidates --------------------------------------------------------------------------------
 */

static const struct graph_recalled *find(const struct known *known, const char *candidate_id,
                                         bool is_confirmation)
{
    for (size_t i = 0; i < known->count; i++) {
        if (known->items[i]->is_confirmation == is_confirmation &&
            str_equal(known->items[i]->candidate_id, candidate_id))
            return known->items[i];
    }
    return NULL;
}

/* Cases that a full verdict has: one that lost a race has fewer, and says only that it lost. */
static size_t full_count(const struct task *task, bool is_confirmation)
{
    size_t count = 0;
    for (size_t i = 0; i < task->case_count; i++)
        count += is_confirmation || !task->cases[i].held_out;
    return count;
}

bool known_is_full(const struct task *task, enum verdict_kind kind, size_t case_count,
                   bool is_confirmation)
{
    return kind != VERDICT_TIMED || case_count == full_count(task, is_confirmation);
}

/* The first memory that knows a candidate is believed: all runs of a suite see the same verdict. */
static bool load_from(struct run *run, struct graph *graph, struct err *err)
{
    const struct graph_recalled *all = NULL;
    size_t count = 0;
    struct known *known = &run->known;
    if (!graph_recall_candidates(graph, run->task->id.text, run->gate_id.text, run->arena, &all,
                                 &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct verdict *verdict = &all[i].verdict;
        if (!known_is_full(run->task, verdict->kind, verdict->case_count, all[i].is_confirmation) ||
            find(known, all[i].candidate_id, all[i].is_confirmation))
            continue;
        known->items = vec_reserve_one(known->items, known->count, &known->capacity,
                                       sizeof(struct graph_recalled *));
        known->items[known->count++] = &all[i];
    }
    return true;
}

bool known_load(struct run *run, struct err *err)
{
    for (size_t i = 0; run->opts.records[i]; i++) {
        CLEANUP(memory_close) struct memory other = {0};
        if (!memory_open(run->opts.records[i], false, run->arena, &other, err) ||
            !load_from(run, other.graph, err))
            return false;
    }
    return true;
}

bool known_find(const struct run *run, const struct candidate *candidate, bool is_confirmation,
                struct arena *arena, struct verdict *out)
{
    if (run->known.count == 0)
        return false;
    const struct hash_id id = candidate_id(candidate);
    const struct graph_recalled *found = find(&run->known, id.text, is_confirmation);
    if (found)
        *out = verdict_copy(&found->verdict, arena);
    return found != NULL;
}

/* --- machine code ------------------------------------------------------------------------------
 */

static bool recall_from(struct run *run, struct graph *graph, struct err *err)
{
    const struct verdict *verdicts = NULL;
    size_t count = 0;
    if (!graph_recall_all(graph, run->task->id.text, run->gate_id.text, run->arena, &verdicts,
                          &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        (void)gate_recall(run->gate, &verdicts[i]);
    return true;
}

bool run_need_gate(struct run *run, struct err *err)
{
    if (run->gate)
        return true;
    const struct gate_opts opts = {
        .time_budget_ns = run->opts.case_ns,
        .half_width = run->opts.half_width,
        .twin = run_twin(run),
        .confirm_budget_ns = run->opts.confirm_ns > 0 ? run->opts.confirm_ns : CONFIRM_BUDGET_NS};
    run_stage(run, "building baseline and oracle, trying the null kernels");
    if (!gate_open(run->target, run->task, &opts, &run->gate, err))
        return err_within(err, "task '%s'", run->task->name);
    run->gate_id = gate_id(run->gate);
    for (size_t i = 0; i < run->known.count; i++) {
        if (!run->known.items[i]->is_confirmation)
            (void)gate_recall(run->gate, &run->known.items[i]->verdict);
    }
    return recall_from(run, run->memory.graph, err);
}

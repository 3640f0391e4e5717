/*
 * Which probes of which case a judgement runs (M10).
 *
 * Where all of them fit the time, all are run. Of large cases they do not: then each case gets the
 * declared inputs and one other distribution, dealt so that the cases together get as many
 * different ones as they have, and one of the cases the changed copy of the declared inputs; what
 * time is left goes to more of them. All of it is decided by lot after the build. The time is
 * estimated from the baseline's alone: a candidate that is slow on purpose is not checked less. A
 * confirmation runs all of them.
 */
#include "gate/internal.h"

#include <string.h>

#define PLAN_NS (8 * GATE_MS)         /* for all cases of a judgement */
#define RING_NS (INT64_C(100) * 1000) /* of a call, beside what it does */

enum { LIKELY_SPEEDUP = 4, MOST_CHOICES = TASK_MAX_CASES * (MAX_PROBES + 1) };

static const size_t repeat = MAX_PROBES; /* stands for the first probe again */

/* What may be run beyond what must. */
struct choice {
    size_t case_index, probe;
};

static uint32_t bit(size_t probe)
{
    return UINT32_C(1) << probe;
}

/* What a call of a case with its poison and comparison is likely to take. */
static int64_t call_cost_ns(const struct gate *gate, size_t case_index)
{
    const struct task *task = gate->task;
    size_t in_bytes = 0, out_bytes = 0;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        const size_t bytes = task_arg_bytes(task, arg, &task->cases[case_index]);
        if (task->args[arg].role == ARG_IN)
            in_bytes += bytes;
        else
            out_bytes += bytes;
    }
    return RING_NS + gate->cases[case_index].baseline_ns / LIKELY_SPEEDUP +
           (int64_t)(in_bytes / 8 + out_bytes);
}

/* The probe of that distribution, if the case has one. */
static size_t plan_one(const struct case_state *state, enum distribution distribution,
                       struct case_plan *plan)
{
    for (size_t i = 0; i < state->probe_count; i++) {
        if (state->probes[i].distribution != distribution)
            continue;
        plan->probes |= bit(i);
        return 1;
    }
    return 0;
}

/* One other, if possible of a distribution that no case has yet. */
static size_t deal_one(struct gate *gate, size_t case_index, uint32_t *dealt,
                       struct case_plan *plan)
{
    const struct case_state *state = &gate->cases[case_index];
    size_t chosen = MAX_PROBES, seen = 0;
    for (int is_any = 0; is_any < 2 && chosen == MAX_PROBES; is_any++)
        for (size_t i = 0; i < state->probe_count; i++) {
            const bool is_new = !(*dealt & bit(state->probes[i].distribution));
            if ((plan->probes & bit(i)) || (!is_new && !is_any) ||
                state->probes[i].distribution == DISTRIBUTION_CHANGED)
                continue;
            if (data_below(gate->data, ++seen) == 0)
                chosen = i;
        }
    if (chosen == MAX_PROBES)
        return 0;
    plan->probes |= bit(chosen);
    *dealt |= bit(state->probes[chosen].distribution);
    return 1;
}

static size_t list_rest(const struct gate *gate, const size_t *order, size_t count,
                        const struct case_plan *plans, struct choice *out)
{
    size_t rest = 0;
    for (size_t k = 0; k < count; k++) {
        const struct case_state *state = &gate->cases[order[k]];
        for (size_t i = 0; i < state->probe_count; i++)
            if (!(plans[order[k]].probes & bit(i)))
                out[rest++] = (struct choice){order[k], i};
        out[rest++] = (struct choice){order[k], repeat};
    }
    return rest;
}

/* Those that caught candidates before come first. */
static int64_t failures(const struct gate *gate, const struct choice *choice)
{
    return choice->probe == repeat ? 0
                                   : gate->cases[choice->case_index].probes[choice->probe].failures;
}

static void shuffle(struct gate *gate, struct choice *choices, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const size_t k = data_below(gate->data, i + 1);
        const struct choice swapped = choices[i];
        choices[i] = choices[k];
        choices[k] = swapped;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && failures(gate, &choices[k]) > failures(gate, &choices[k - 1]);
             k--) {
            const struct choice swapped = choices[k];
            choices[k] = choices[k - 1];
            choices[k - 1] = swapped;
        }
}

void plan_checks(struct judgement *j, const size_t *order, size_t count,
                 struct case_plan plans[TASK_MAX_CASES])
{
    struct gate *gate = j->gate;
    struct choice rest[MOST_CHOICES];
    int64_t left = PLAN_NS;
    uint32_t dealt = 0;
    const size_t changed = data_below(gate->data, count ? count : 1);
    memset(plans, 0, TASK_MAX_CASES * sizeof *plans);
    for (size_t k = 0; k < count; k++) {
        struct case_plan *plan = &plans[order[k]];
        plan->turn = (unsigned)data_below(gate->data, PLACEMENT_COUNT);
        const struct case_state *state = &gate->cases[order[k]];
        size_t calls =
            plan_one(state, DISTRIBUTION_DECLARED, plan) + deal_one(gate, order[k], &dealt, plan);
        if (k == changed)
            calls += plan_one(state, DISTRIBUTION_CHANGED, plan);
        left -= (int64_t)calls * call_cost_ns(gate, order[k]);
    }
    const size_t rest_count = list_rest(gate, order, count, plans, rest);
    shuffle(gate, rest, rest_count);
    for (size_t i = 0; i < rest_count; i++) {
        const int64_t cost = call_cost_ns(gate, rest[i].case_index);
        struct case_plan *plan = &plans[rest[i].case_index];
        if (cost > left)
            continue;
        left -= cost;
        if (rest[i].probe == repeat)
            plan->repeats = true;
        else
            plan->probes |= bit(rest[i].probe);
    }
}

struct case_plan plan_all(const struct gate *gate, size_t probe_count)
{
    return (struct case_plan){.probes = bit(probe_count) - 1,
                              .repeats = true,
                              .turn = (unsigned)data_below(gate->data, PLACEMENT_COUNT)};
}

/* What a confirmation is likely to take, from what its parts took when the gate was opened: so that
 * a run with a limit of time leaves room for it. */
#include "gate/internal.h"

/* Pairs of slow calls, each in a process of its own, with those that do not count. */
enum { SLOW_PAIRS = 6 };
#define BUILD_NS GATE_S

static int64_t draws_ns(const struct gate *gate, const struct case_state *state)
{
    int64_t others = -1;
    for (unsigned d = 0; d < DISTRIBUTION_COUNT; d++)
        others += distribution_applies((enum distribution)d, gate->task);
    return state->first_draw_ns + others * state->next_draw_ns;
}

/* As long as it may, or as slow calls need. */
static int64_t pairs_ns(int64_t budget_ns, int64_t baseline_ns)
{
    const int64_t slow_ns = SLOW_PAIRS * baseline_ns;
    return budget_ns > slow_ns ? budget_ns : slow_ns;
}

int64_t gate_forecast_confirm_ns(const struct gate *gate)
{
    const struct timing_plan plan = timing_plan_for(&gate->opts, true);
    int64_t ns = BUILD_NS;
    for (size_t i = 0; i < gate->task->case_count; i++) {
        const struct case_state *state = &gate->cases[i];
        ns += draws_ns(gate, state) + pairs_ns(plan.budget_ns, state->baseline_ns) +
              pairs_ns(plan.budget_ns / COLD_SHARE, state->baseline_ns);
    }
    return ns;
}

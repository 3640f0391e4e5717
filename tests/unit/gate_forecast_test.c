/* What a confirmation will take is what its parts took: draws, pairs within a budget, slow calls.
 */
#include "gate/internal.h"
#include "gate_fixture.h"

#define SECOND INT64_C(1000000000)

static const char task_yaml[] =
    "name: squares\nfamily: elementwise\nsummary: y = x x\ndtype: float32\naxes: [n]\nargs:\n"
    "  - {name: x, role: in, shape: [n], draw: {kind: uniform, low: -1, high: 1}}\n"
    "  - {name: y, role: out, shape: [n]}\nprecision: normal\ncases:\n  - {n: 4}\n"
    "held_out:\n  - {n: 5}\n";

/* A gate of that task that was never opened: nothing but numbers. */
static struct gate *gate_of(struct case_state one, struct case_state held_out)
{
    struct err err = {0};
    struct gate *gate = arena_array(&fixture.arena, 1, sizeof *gate);
    if (!task_parse(task_yaml, strlen(task_yaml), "void squares(void);", "", &fixture.arena,
                    &fixture.task, &err))
        fail_msg("%s", err.message);
    gate->task = fixture.task;
    gate->opts.confirm_budget_ns = 3 * SECOND;
    gate->cases[0] = one;
    gate->cases[1] = held_out;
    return gate;
}

static int64_t other_distributions(const struct gate *gate)
{
    int64_t count = 0;
    for (unsigned d = 0; d < DISTRIBUTION_COUNT; d++)
        count += distribution_applies((enum distribution)d, gate->task);
    return count - 1;
}

static void gate_forecast_confirm__quick_calls__the_budget(void **state)
{
    (void)state;
    const struct case_state quick = {.baseline_ns = 1000};
    /* A build, and for each case warm pairs and a quarter for cold ones. */
    assert_int_equal(gate_forecast_confirm_ns(gate_of(quick, quick)),
                     SECOND + 2 * (3 * SECOND + 3 * SECOND / 4));
}

static void gate_forecast_confirm__slow_calls__their_number(void **state)
{
    (void)state;
    const struct case_state slow = {.baseline_ns = 5 * SECOND}, none = {.baseline_ns = 1};
    const int64_t without = gate_forecast_confirm_ns(gate_of(none, none));
    const int64_t with = gate_forecast_confirm_ns(gate_of(slow, none));
    assert_true(with - without >= 2 * 5 * slow.baseline_ns - 4 * SECOND);
    assert_true(with - without <= 2 * 8 * slow.baseline_ns);
}

static void gate_forecast_confirm__every_distribution__is_drawn(void **state)
{
    (void)state;
    const struct case_state none = {.baseline_ns = 1};
    const struct case_state drawn = {
        .baseline_ns = 1, .first_draw_ns = 7 * SECOND, .next_draw_ns = 3 * SECOND};
    struct gate *gate = gate_of(drawn, none);
    const int64_t with = gate_forecast_confirm_ns(gate);
    assert_true(other_distributions(gate) > 4);
    assert_int_equal(with - gate_forecast_confirm_ns(gate_of(none, none)),
                     7 * SECOND + other_distributions(gate) * 3 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_forecast_confirm__quick_calls__the_budget),
        cmocka_unit_test(gate_forecast_confirm__slow_calls__their_number),
        cmocka_unit_test(gate_forecast_confirm__every_distribution__is_drawn),
    };
    return cmocka_run_group_tests(tests, open_target, close_all);
}

/* A faster text of the reference stands in for it exactly as long as it comes to the same bits. */
#include "gate/internal.h"
#include "gate_fixture.h"

/* Large enough that its case has four probes: declared, changed, and two by lot. */
static const char task_yaml[] =
    "name: squares\nfamily: elementwise\nsummary: y = x x\ndtype: float32\naxes: [n]\nargs:\n"
    "  - {name: x, role: in, shape: [n], draw: {kind: uniform, low: -1, high: 1}}\n"
    "  - {name: y, role: out, shape: [n]}\nprecision: normal\ncases:\n  - {n: 300000}\n"
    "held_out:\n  - {n: 1001}\n";
#define HEAD "#include <stdint.h>\nvoid squares(const real *x, real *y, int64_t n)\n{\n"
#define LOOP "    for (int64_t i = 0; i < n; i++)\n        y[i] = x[i] * x[i];\n"
static const char reference[] = HEAD LOOP "}\n";

/* The gate of the task with such a twin: tried however fast the reference is. */
static const struct case_state *open_task(const char *yaml, const char *twin)
{
    struct err err = {0};
    const struct gate_opts opts = {.check_only = true, .twin = twin, .twin_from_ns = 1};
    gate_close(&fixture.gate);
    if (!task_parse(yaml, strlen(yaml), reference, "", &fixture.arena, &fixture.task, &err) ||
        !gate_open(fixture.target, fixture.task, &opts, &fixture.gate, &err))
        fail_msg("%s", err.message);
    return &fixture.gate->cases[0];
}

static const struct case_state *open_with(const char *twin)
{
    return open_task(task_yaml, twin);
}

static size_t count_by_twin(const struct case_state *state)
{
    size_t count = 0;
    for (size_t i = 0; i < state->probe_count; i++)
        count += state->probes[i].is_by_twin;
    return count;
}

/* Whoever made the probes: right is right, and one wrong element is seen. */
static void expect_same_verdicts(void)
{
    expect(reference, VERDICT_TIMED, NULL);
    expect(HEAD LOOP "    y[n / 2] += 1;\n}\n", VERDICT_WRONG, NULL);
}

static void gate_open__twin_has_the_same_bits__makes_every_probe(void **state)
{
    (void)state;
    const struct case_state *c = open_with(HEAD "    for (int64_t i = n; i-- > 0;)\n"
                                                "        y[i] = x[i] * x[i];\n}\n");
    assert_true(c->probe_count >= 3);
    assert_int_equal(count_by_twin(c), c->probe_count);
    expect_same_verdicts();
}

static void gate_open__twin_is_an_ulp_off__is_not_used(void **state)
{
    (void)state;
    const struct case_state *c = open_with(
        HEAD LOOP "    y[n / 3] += (sizeof(real) == 4 ? 1.2e-7f : 2.3e-16) * y[n / 3];\n}\n");
    assert_int_equal(count_by_twin(c), 0);
    expect_same_verdicts();
}

static void gate_open__twin_is_off_in_double_only__is_not_used(void **state)
{
    (void)state;
    /* One square alone is a float now and then: of a number of twelve bits. */
    const struct case_state *c = open_with(
        HEAD LOOP "    for (int64_t i = n / 3; sizeof(real) == 8 && i < n / 3 + 16; i++)\n"
                  "        y[i] = (float)y[i];\n}\n");
    assert_int_equal(count_by_twin(c), 0);
    expect_same_verdicts();
}

/* The changed copy of the declared inputs holds an end of the range. */
static void gate_open__twin_fails_on_later_inputs__reference_takes_over(void **state)
{
    (void)state;
    const struct case_state *c =
        open_with(HEAD LOOP "    for (int64_t i = 0; i < n; i++)\n"
                            "        if (x[i] == 1 || x[i] == -1)\n            y[0] = 7;\n}\n");
    assert_true(c->probes[0].is_by_twin);
    assert_int_equal(c->probes[1].distribution, DISTRIBUTION_CHANGED);
    assert_false(c->probes[1].is_by_twin);
    expect_same_verdicts();
}

static void gate_open__twin_crashes_or_does_not_build__reference_works_alone(void **state)
{
    (void)state;
    assert_int_equal(count_by_twin(open_with(HEAD LOOP "    *(volatile real *)16 = 1;\n}\n")), 0);
    expect_same_verdicts();
    assert_int_equal(count_by_twin(open_with(HEAD "    no C;\n}\n")), 0);
    expect_same_verdicts();
}

/* The twin is called as the reference is: with one pointer for both arguments. */
static void gate_open__task_is_in_place__twin_is_too(void **state)
{
    (void)state;
    static const char shape[] = "shape: [n]}\nprecision";
    const char *at = strstr(task_yaml, shape);
    const char *yaml = arena_printf(&fixture.arena, "%.*sshape: [n], alias: x}\nprecision%s",
                                    (int)(at - task_yaml), task_yaml, at + sizeof shape - 1);
    const struct case_state *c = open_task(yaml, HEAD "    for (int64_t i = n; i-- > 0;)\n"
                                                      "        y[i] = x[i] * x[i];\n}\n");
    assert_true(c->probe_count >= 3);
    assert_int_equal(count_by_twin(c), c->probe_count);
    expect_same_verdicts();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_open__twin_has_the_same_bits__makes_every_probe),
        cmocka_unit_test(gate_open__twin_is_an_ulp_off__is_not_used),
        cmocka_unit_test(gate_open__twin_is_off_in_double_only__is_not_used),
        cmocka_unit_test(gate_open__twin_fails_on_later_inputs__reference_takes_over),
        cmocka_unit_test(gate_open__twin_crashes_or_does_not_build__reference_works_alone),
        cmocka_unit_test(gate_open__task_is_in_place__twin_is_too),
    };
    return cmocka_run_group_tests(tests, open_target, close_all);
}

/*
 * The gate on this machine: small tasks, kernels that are right, wrong, slow and hostile. One gate
 * judges them all, so each test also shows that it goes on after the one before. Timings are not
 * asserted closely: the host may be busy, and then 'too-noisy' is a right verdict.
 */
#include "base/str.h"
#include "gate/internal.h"
#include "target/target.h"
#include "task/task.h"
#include "task/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char scale_yaml[] =
    "name: scale\nfamily: elementwise\nsummary: y = 3 x + 1\ndtype: float32\naxes: [rows, cols]\n"
    "args:\n"
    "  - {name: x, role: in, shape: [rows, cols], draw: {kind: normal, mean: 0, deviation: 1}}\n"
    "  - {name: y, role: out, shape: [rows, cols]}\n"
    "precision: normal\n"
    "cases:\n  - {rows: 4, cols: 9}\n  - {rows: 31, cols: 257}\n"
    "held_out:\n  - {rows: 3, cols: 100}\n";
static const char scale_reference[] =
    "#include <stdint.h>\n"
    "void scale(const real *x, real *y, int64_t rows, int64_t cols)\n"
    "{\n    for (int64_t i = 0; i < rows * cols; i++)\n        y[i] = 3 * x[i] + 1;\n}\n";

static struct {
    struct arena arena;
    struct target *target;
    const struct task *task;
    struct gate *gate;
} fixture;

/* Short timings: a unit test is no measurement. */
static const struct gate_opts quick = {
    .call_limit_ns = 500 * 1000 * 1000, .time_budget_ns = 100 * 1000 * 1000, .max_pairs = 12};

static const struct task *parse(const char *yaml, const char *reference)
{
    const struct task *task = NULL;
    struct err err = {0};
    if (!task_parse(yaml, strlen(yaml), reference, "", &fixture.arena, &task, &err))
        fail_msg("%s", err.message);
    return task;
}

static int open_gate(void **state)
{
    (void)state;
    struct err err = {0};
    fixture.task = parse(scale_yaml, scale_reference);
    if (!target_open("cpu", NULL, &fixture.target, &err) ||
        !gate_open(fixture.target, fixture.task, &quick, &fixture.gate, &err)) {
        print_message("no candidate can run here: %s\n", err.message);
        return -1;
    }
    return 0;
}

static int close_gate(void **state)
{
    (void)state;
    gate_close(&fixture.gate);
    target_close(&fixture.target);
    arena_free(&fixture.arena);
    return 0;
}

/* The verdict on a body of `scale`; `flags` as one line or NULL. */
static struct verdict judge_source(const char *source, const char *flags)
{
    struct err err = {0};
    struct verdict verdict;
    struct candidate candidate = {.source = source};
    if (flags)
        assert_true(candidate_parse_flags(flags, &fixture.arena, &candidate));
    if (!gate_judge(fixture.gate, &candidate, -HUGE_VAL, &fixture.arena, &verdict, &err))
        fail_msg("%s", err.message);
    print_message("%s %s: %s\n", verdict_kind_name(verdict.kind), verdict.mechanism,
                  verdict.evidence);
    return verdict;
}

static struct verdict judge(const char *body)
{
    return judge_source(
        arena_printf(&fixture.arena,
                     "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"
                     "void scale(const real *x, real *y, int64_t rows, int64_t cols)\n"
                     "{\n    const int64_t n = rows * cols;\n%s\n}\n",
                     body),
        NULL);
}

static void expect(const char *body, enum verdict_kind kind, const char *mechanism)
{
    const struct verdict verdict = judge(body);
    assert_string_equal(verdict_kind_name(verdict.kind), verdict_kind_name(kind));
    if (mechanism)
        assert_string_equal(verdict.mechanism, mechanism);
    assert_true(verdict.evidence[0] != '\0');
}

static void gate_judge__the_reference_itself__is_no_win(void **state)
{
    (void)state;
    const struct verdict verdict = judge_source(scale_reference, NULL);
    if (verdict.kind == VERDICT_TOO_NOISY)
        return;
    assert_int_equal(verdict.kind, VERDICT_TIMED);
    assert_false(verdict.is_win);
    assert_int_equal(verdict.case_count, 2);
    for (size_t i = 0; i < verdict.case_count; i++) {
        const struct case_result *c = &verdict.cases[i];
        assert_true(c->log_low <= c->log_ratio && c->log_ratio <= c->log_high);
        assert_true(c->pairs > 0 && c->baseline_ns > 0 && c->candidate_ns > 0);
        assert_false(c->held_out);
    }
    assert_string_equal(verdict.gate_id.text, gate_id(fixture.gate).text);
    assert_true(verdict.timings.build_ns > 0 && verdict.timings.check_ns > 0);
}

static void gate_judge__slower_kernel__is_timed_as_slower(void **state)
{
    (void)state;
    const struct verdict verdict = judge("    for (int64_t i = 0; i < n; i++) {\n"
                                         "        volatile real wait = x[i];\n"
                                         "        for (int k = 0; k < 50; k++)\n"
                                         "            wait = wait + 0;\n"
                                         "        y[i] = 3 * wait + 1;\n    }");
    if (verdict.kind == VERDICT_TOO_NOISY)
        return;
    assert_int_equal(verdict.kind, VERDICT_TIMED);
    assert_true(verdict.log_high < 0);
    assert_false(verdict.is_win);
}

static void gate_judge__same_machine_code__is_taken_from_the_record(void **state)
{
    (void)state;
    const char *body = "    for (int64_t i = 0; i < n; i++)\n        y[i] = 2 * x[i];";
    const struct verdict first = judge(body);
    const struct verdict second =
        judge(arena_printf(&fixture.arena, "    /* another text */\n%s", body));
    assert_false(first.from_record);
    assert_true(second.from_record);
    assert_int_equal(second.kind, first.kind);
    assert_string_equal(second.evidence, first.evidence);
}

static void gate_judge__returns_at_once__is_wrong(void **state)
{
    (void)state;
    expect("    (void)x; (void)y; (void)n;", VERDICT_WRONG, "M5-poison");
}

static void gate_judge__last_element_not_written__is_wrong(void **state)
{
    (void)state;
    expect("    for (int64_t i = 0; i + 1 < n; i++)\n        y[i] = 3 * x[i] + 1;", VERDICT_WRONG,
           "M5-poison");
}

static void gate_judge__writes_nan__is_wrong(void **state)
{
    (void)state;
    expect("    for (int64_t i = 0; i < n; i++)\n        y[i] = (x[0] - x[0]) / (x[0] - x[0]);",
           VERDICT_WRONG, "M9-class");
}

static void gate_judge__cut_to_bfloat16__is_wrong(void **state)
{
    (void)state;
    expect("    for (int64_t i = 0; i < n; i++) {\n        uint32_t bits;\n"
           "        memcpy(&bits, &x[i], 4);\n        bits &= 0xffff0000;\n        float cut;\n"
           "        memcpy(&cut, &bits, 4);\n        y[i] = 3 * cut + 1;\n    }",
           VERDICT_WRONG, "M9-precision");
}

static void gate_judge__output_kept_by_pointer__is_wrong(void **state)
{
    (void)state;
    expect("    static const real *last;\n    if (x == last)\n        return;\n    last = x;\n"
           "    for (int64_t i = 0; i < n; i++)\n        y[i] = 3 * x[i] + 1;",
           VERDICT_WRONG, "M5-poison");
}

static void gate_judge__output_kept_by_shape__is_wrong(void **state)
{
    (void)state;
    expect("    static real kept[31 * 257];\n    static int has;\n    if (!has)\n"
           "        for (int64_t i = 0; i < n; i++)\n            kept[i] = 3 * x[i] + 1;\n"
           "    has = 1;\n    memcpy(y, kept, (size_t)n * sizeof *y);",
           VERDICT_WRONG, NULL);
}

static void gate_judge__honest_until_it_is_timed__is_rejected(void **state)
{
    (void)state;
    expect("    static int calls;\n    if (calls++ > 30)\n        return;\n"
           "    for (int64_t i = 0; i < n; i++)\n        y[i] = 3 * x[i] + 1;",
           VERDICT_REJECTED, "M7-timed-output");
}

static void gate_judge__writes_past_the_output__is_crashed(void **state)
{
    (void)state;
    expect("    for (int64_t i = 0; i <= n; i++)\n        y[i] = i < n ? 3 * x[i] + 1 : 0;",
           VERDICT_CRASHED, NULL);
}

static void gate_judge__writes_before_the_output__is_crashed(void **state)
{
    (void)state;
    expect("    for (int64_t i = 0; i < n; i++)\n        y[i] = 3 * x[i] + 1;\n    y[-1] = 0;",
           VERDICT_CRASHED, NULL);
}

static void gate_judge__null_pointer__is_crashed(void **state)
{
    (void)state;
    expect("    volatile real *nowhere = NULL;\n    *nowhere = x[0];\n    y[n - 1] = 0;",
           VERDICT_CRASHED, NULL);
}

static void gate_judge__endless_loop__is_timed_out(void **state)
{
    (void)state;
    expect("    for (volatile int64_t i = 0; i < n + 1; i = 0)\n        y[0] = x[0];",
           VERDICT_TIMED_OUT, NULL);
}

static void gate_judge__hundred_gigabytes__is_crashed(void **state)
{
    (void)state;
    expect("    char *block = malloc((size_t)100 << 30);\n"
           "    for (size_t i = 0; i < (size_t)100 << 30; i += 4096)\n        block[i] = 1;\n"
           "    y[n - 1] = x[0] + block[77];",
           VERDICT_CRASHED, NULL);
}

static void gate_judge__does_not_compile__is_build_failed(void **state)
{
    (void)state;
    const struct verdict verdict = judge("    y[0] = x[0] +;");
    assert_int_equal(verdict.kind, VERDICT_BUILD_FAILED);
    assert_true(verdict.diagnostics[0] != '\0');
}

static void gate_confirm__the_reference__judges_held_out_shapes(void **state)
{
    (void)state;
    struct err err = {0};
    struct verdict verdict;
    const struct candidate candidate = {.source = scale_reference};
    if (!gate_confirm(fixture.gate, &candidate, &fixture.arena, &verdict, &err))
        fail_msg("%s", err.message);
    assert_false(verdict.confirmed);
    assert_false(verdict.from_record);
    if (verdict.kind == VERDICT_TOO_NOISY)
        return;
    assert_int_equal(verdict.kind, VERDICT_TIMED);
    assert_int_equal(verdict.case_count, 3);
    assert_true(verdict.has_held_out);
    for (size_t i = 0; i < verdict.case_count; i++) {
        const struct cold_result *cold = &verdict.cases[i].cold;
        if (cold->pairs == 0)
            continue; /* too busy */
        assert_true(cold->log_low <= cold->log_ratio && cold->log_ratio <= cold->log_high);
        assert_true(cold->baseline_ns > 0 && cold->candidate_ns > 0);
    }
}

/* What counts is the CPU time of a child that sleeps until the bell. */
static void gate_judge__slower_kernel__is_slower_by_account(void **state)
{
    (void)state;
    const struct verdict verdict = judge("    for (int64_t i = 0; i < n; i++) {\n"
                                         "        volatile real wait = x[i];\n"
                                         "        for (int k = 0; k < 60; k++)\n"
                                         "            wait = wait + 0;\n"
                                         "        y[i] = 3 * wait + 1;\n    }");
    if (verdict.kind == VERDICT_TOO_NOISY)
        return;
    assert_int_equal(verdict.kind, VERDICT_TIMED);
    for (size_t i = 0; i < verdict.case_count; i++) {
        const struct case_result *c = &verdict.cases[i];
        assert_true(c->by_account);
        assert_true(c->log_high < 0 && c->baseline_ns > 0);
    }
}

/* A child that sleeps is not excused from writing what it should. */
static void gate_judge__honest_until_it_is_timed__is_rejected_asleep_or_not(void **state)
{
    (void)state;
    expect("    static int calls;\n    if (++calls > 60)\n        return;\n"
           "    for (int64_t i = 0; i < n; i++)\n        y[i] = 3 * x[i] + 1;",
           VERDICT_REJECTED, "M7-timed-output");
}

/* --- tasks that are refused ------------------------------------------------------------------ */

static void expect_refused(const char *yaml, const char *reference, const char *words)
{
    struct err err = {0};
    struct gate *gate = NULL;
    const bool opened = gate_open(fixture.target, parse(yaml, reference), &quick, &gate, &err);
    gate_close(&gate);
    assert_false(opened);
    print_message("%s\n", err.message);
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_non_null(strstr(err.message, words));
}

static void gate_open__an_empty_kernel_would_do__is_refused(void **state)
{
    (void)state;
    expect_refused(scale_yaml,
                   "#include <stdint.h>\n"
                   "void scale(const real *x, real *y, int64_t rows, int64_t cols)\n"
                   "{\n    for (int64_t i = 0; i < rows * cols; i++)\n        y[i] = 0 * x[0];\n"
                   "    for (int64_t i = 0; i < rows * cols; i++)\n        y[i] = 0;\n}\n",
                   "rows=4 cols=9");
}

static void gate_open__reference_copies__is_refused(void **state)
{
    (void)state;
    expect_refused(scale_yaml,
                   "#include <stdint.h>\n"
                   "void scale(const real *x, real *y, int64_t rows, int64_t cols)\n"
                   "{\n    for (int64_t i = 0; i < rows * cols; i++)\n        y[i] = x[i];\n}\n",
                   "copies the first input");
}

static void gate_open__reference_crashes__is_refused(void **state)
{
    (void)state;
    expect_refused(
        scale_yaml,
        "#include <stdint.h>\n"
        "void scale(const real *x, real *y, int64_t rows, int64_t cols)\n"
        "{\n    for (int64_t i = 0; i <= rows * cols + 9000; i++)\n        y[i] = x[0];\n}\n",
        "crashes");
}

static void gate_open__reference_is_not_finite__is_refused(void **state)
{
    (void)state;
    expect_refused(
        scale_yaml,
        "#include <stdint.h>\n"
        "void scale(const real *x, real *y, int64_t rows, int64_t cols)\n"
        "{\n    for (int64_t i = 0; i < rows * cols; i++)\n        y[i] = x[i] / 0;\n}\n",
        "not finite");
}

static void gate_identify__same_task__is_the_id_of_the_gate_that_opens(void **state)
{
    (void)state;
    struct err err = {0};
    struct hash_id id;
    if (!gate_identify(fixture.target, fixture.task, &id, &err))
        fail_msg("%s", err.message);
    assert_string_equal(id.text, gate_id(fixture.gate).text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_judge__returns_at_once__is_wrong),
        cmocka_unit_test(gate_judge__last_element_not_written__is_wrong),
        cmocka_unit_test(gate_judge__writes_nan__is_wrong),
        cmocka_unit_test(gate_judge__cut_to_bfloat16__is_wrong),
        cmocka_unit_test(gate_judge__output_kept_by_pointer__is_wrong),
        cmocka_unit_test(gate_judge__output_kept_by_shape__is_wrong),
        cmocka_unit_test(gate_judge__honest_until_it_is_timed__is_rejected),
        cmocka_unit_test(gate_judge__writes_past_the_output__is_crashed),
        cmocka_unit_test(gate_judge__writes_before_the_output__is_crashed),
        cmocka_unit_test(gate_judge__null_pointer__is_crashed),
        cmocka_unit_test(gate_judge__endless_loop__is_timed_out),
        cmocka_unit_test(gate_judge__hundred_gigabytes__is_crashed),
        cmocka_unit_test(gate_judge__does_not_compile__is_build_failed),
        cmocka_unit_test(gate_judge__same_machine_code__is_taken_from_the_record),
        cmocka_unit_test(gate_judge__the_reference_itself__is_no_win),
        cmocka_unit_test(gate_judge__slower_kernel__is_timed_as_slower),
        cmocka_unit_test(gate_judge__slower_kernel__is_slower_by_account),
        cmocka_unit_test(gate_judge__honest_until_it_is_timed__is_rejected_asleep_or_not),
        cmocka_unit_test(gate_confirm__the_reference__judges_held_out_shapes),
        cmocka_unit_test(gate_identify__same_task__is_the_id_of_the_gate_that_opens),
        cmocka_unit_test(gate_open__an_empty_kernel_would_do__is_refused),
        cmocka_unit_test(gate_open__reference_copies__is_refused),
        cmocka_unit_test(gate_open__reference_crashes__is_refused),
        cmocka_unit_test(gate_open__reference_is_not_finite__is_refused),
    };
    return cmocka_run_group_tests_name("gate_judge", tests, open_gate, close_gate);
}

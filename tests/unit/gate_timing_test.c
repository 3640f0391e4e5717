/*
 * Timing on the fake target, whose times are scripted: what the protocol makes of known times. No
 * processor, no clock and no neighbour is part of it; only budgets are in real time.
 */
#include "base/str.h"
#include "gate/gate.h"
#include "target/driver.h"
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

static const char yaml[] =
    "name: scale2\nfamily: elementwise\nsummary: y = 2 x\ndtype: float32\naxes: [n]\n"
    "args:\n"
    "  - {name: x, role: in, shape: [n], draw: {kind: normal, mean: 0, deviation: 1}}\n"
    "  - {name: y, role: out, shape: [n]}\n"
    "precision: normal\n"
    "cases:\n  - {n: 64}\n  - {n: 1000}\n  - {n: 4096}\n"
    "held_out:\n  - {n: 333}\n";

/* Enough for all looks, however busy the host is. */
static const struct gate_opts patient = {.time_budget_ns = INT64_C(4) * 1000 * 1000 * 1000};

struct fixture {
    struct arena arena;
    struct target *target;
    struct gate *gate;
};

static const char *reference_with(struct fixture *f, const char *markers)
{
    return arena_printf(&f->arena,
                        "#include <stdint.h>\nvoid scale2(const real *x, real *y, int64_t n)\n"
                        "{\n    for (int64_t i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n}\n"
                        "// %s\n",
                        markers);
}

static void open_gate_with(struct fixture *f, const char *markers, const struct gate_opts *opts)
{
    const struct task *task = NULL;
    struct err err = {0};
    gate_close(&f->gate);
    if (!task_parse(yaml, strlen(yaml), reference_with(f, markers), "", &f->arena, &task, &err) ||
        !gate_open(f->target, task, opts, &f->gate, &err))
        fail_msg("%s", err.message);
}

/* A gate whose baseline has these markers. */
static void open_gate(struct fixture *f, const char *markers)
{
    open_gate_with(f, markers, &patient);
}

static struct verdict judge_raced(struct fixture *f, const char *markers, double best)
{
    struct err err = {0};
    struct verdict verdict;
    const struct candidate candidate = {.source = arena_printf(&f->arena, "// %s\n", markers)};
    if (!gate_judge(f->gate, &candidate, best, &f->arena, &verdict, &err))
        fail_msg("%s", err.message);
    print_message("%s: %s\n", markers, verdict_summary(&verdict, &f->arena));
    return verdict;
}

static struct verdict judge(struct fixture *f, const char *markers)
{
    return judge_raced(f, markers, -HUGE_VAL);
}

static struct verdict confirm(struct fixture *f, const char *markers)
{
    struct err err = {0};
    struct verdict verdict;
    const struct candidate candidate = {.source = arena_printf(&f->arena, "// %s\n", markers)};
    if (!gate_confirm(f->gate, &candidate, &f->arena, &verdict, &err))
        fail_msg("%s", err.message);
    return verdict;
}

static bool near_to(double a, double b, double within)
{
    return fabs(a - b) <= within;
}

static int open_target(void **state)
{
    static struct fixture f;
    struct err err = {0};
    f = (struct fixture){0};
    *state = &f;
    return target_open("fake", NULL, &f.target, &err) ? 0 : -1;
}

static int close_target(void **state)
{
    struct fixture *f = *state;
    gate_close(&f->gate);
    target_close(&f->target);
    arena_free(&f->arena);
    return 0;
}

static void gate_judge__a_quarter_faster_in_noise__is_a_win_with_the_truth_inside(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us fake: jitter=5");
    const struct verdict v = judge(f, "fake: time=80us fake: jitter=5");
    assert_int_equal(v.kind, VERDICT_TIMED);
    assert_true(v.is_win);
    assert_int_equal(v.case_count, 3);
    for (size_t i = 0; i < v.case_count; i++)
        assert_true(near_to(v.cases[i].log_ratio, log(1.25), 0.05));
    assert_true(v.log_low < log(1.25) + 0.01 && v.log_high > log(1.25) - 0.01);
}

static void gate_judge__equal_times_in_noise__is_no_difference(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us fake: jitter=10");
    const struct verdict v = judge(f, "fake: time=100us fake: jitter=10 again");
    assert_int_equal(v.kind, VERDICT_TIMED);
    assert_false(v.is_win);
    assert_int_equal(verdict_difference(v.log_low, v.log_high, verdict_noise(&v, false)).sign, 0);
}

/* A gain of 1 % without any noise is still none: the least that counts is 2 %. */
static void gate_judge__one_percent_without_noise__is_no_win(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=1010us");
    const struct verdict v = judge(f, "fake: time=1000us");
    assert_true(near_to(v.log_ratio, log(1.01), 1e-3));
    assert_false(v.is_win);
}

static void gate_judge__every_second_run_disturbed__is_too_noisy(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us");
    const struct verdict v = judge(f, "fake: time=50us fake: noisy");
    assert_int_equal(v.kind, VERDICT_TOO_NOISY);
    assert_string_equal(v.mechanism, "noise");
}

/* Of slow calls, whose time is up, it is not tried for ever: some 28 pairs, 4 in a process. */
static void gate_judge__every_run_disturbed__is_given_up(void **state)
{
    struct fixture *f = *state;
    const struct gate_opts hasty = {.time_budget_ns = 1};
    open_gate_with(f, "fake: time=100ms", &hasty);
    const struct verdict v = judge(f, "fake: time=50ms fake: disturbed");
    long long dropped = 0, attempts = 0;
    assert_int_equal(v.kind, VERDICT_TOO_NOISY);
    const char *counts = strstr(v.evidence, "in two attempts; ");
    assert_non_null(counts);
    assert_int_equal(sscanf(counts, "in two attempts; %lld of %lld", &dropped, &attempts), 2);
    assert_int_equal(dropped, attempts);
    assert_in_range(attempts, 28, 32);
}

/* 32 KiB at 200 GB/s from the first cache of the fake machine are 82 ns one way. */
static void gate_judge__faster_than_the_machine__is_rejected(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    assert_true(target_probe(f->target, false, &err));
    open_gate(f, "fake: time=100us");
    const struct verdict v = judge(f, "fake: time=2ns");
    assert_int_equal(v.kind, VERDICT_REJECTED);
    assert_string_equal(v.mechanism, "M14-roofline");
}

static bool too_busy(struct target *target, bool fresh, struct err *err)
{
    (void)target;
    return !fresh || err_set(err, ERR_BUSY, "this machine is too busy to be measured");
}

/* Nobody is accused by rates that were measured once. */
static void gate_judge__faster_than_a_busy_machine__is_too_noisy(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    const struct target_driver *driver = f->target->driver;
    struct target_driver busy = *driver;
    assert_true(target_probe(f->target, false, &err));
    open_gate(f, "fake: time=100us");
    busy.probe = too_busy;
    f->target->driver = &busy;
    const struct verdict v = judge(f, "fake: time=3ns");
    f->target->driver = driver;
    assert_int_equal(v.kind, VERDICT_TOO_NOISY);
    assert_string_equal(v.mechanism, "noise");
    assert_non_null(strstr(v.evidence, "the machine cannot be measured again"));
}

static void gate_judge__far_behind_the_best__stops_before_the_last_case(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us fake: jitter=2");
    const struct verdict v =
        judge_raced(f, "fake: time=200us fake: jitter=2 as for a race", log(2));
    assert_int_equal(v.kind, VERDICT_TIMED);
    assert_true(v.case_count < 3);
    assert_non_null(strstr(v.evidence, "clearly slower"));
    assert_false(v.is_win);
}

static void gate_judge__little_noise__stops_sooner_than_much(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us");
    const struct verdict calm = judge(f, "fake: time=90us");
    assert_int_equal(calm.cases[0].processes, 6); /* the first look */
    assert_int_equal(calm.cases[0].pairs, 36);
    open_gate(f, "fake: time=100us fake: jitter=40");
    const struct verdict wild = judge(f, "fake: time=90us fake: jitter=40");
    assert_int_equal(wild.kind, VERDICT_TIMED);
    assert_true(wild.cases[0].pairs > 36);
    assert_true(wild.cases[0].log_high - wild.cases[0].log_low >
                calm.cases[0].log_high - calm.cases[0].log_low);
}

/* The target adds 10 ns to every call; between 50 and 100 they would make a factor of 1.83. */
static void gate_judge__short_calls__the_empty_call_is_subtracted(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100ns");
    const struct verdict v = judge(f, "fake: time=50ns");
    assert_int_equal(v.kind, VERDICT_TIMED);
    assert_true(near_to(v.log_ratio, log(2), 1e-9));
    assert_true(near_to(v.cases[0].empty_ns, 10, 1e-9));
    assert_int_equal(v.cases[0].baseline_ns, 100);
    assert_int_equal(v.cases[0].candidate_ns, 50);
}

static void gate_confirm__slower_from_memory__cold_stands_beside_warm(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us fake: cold=400us");
    const struct verdict v = confirm(f, "fake: time=80us fake: cold=800us");
    assert_true(v.confirmed);
    assert_int_equal(v.case_count, 4);
    for (size_t i = 0; i < v.case_count; i++) {
        const struct cold_result *cold = &v.cases[i].cold;
        assert_true(near_to(v.cases[i].log_ratio, log(1.25), 1e-9));
        assert_true(cold->pairs >= 5);
        assert_true(near_to(cold->log_ratio, -log(2), 1e-9));
        assert_int_equal(cold->baseline_ns, 400000);
        assert_int_equal(cold->candidate_ns, 800000);
    }
}

static void gate_judge__a_step_of_a_search__has_no_cold_times(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us fake: cold=400us");
    const struct verdict v = judge(f, "fake: time=80us fake: cold=800us");
    assert_int_equal(v.cases[0].cold.pairs, 0);
}

static void gate_judge__last_element_written_after_the_bell__is_rejected(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us");
    const struct verdict v = judge(f, "fake: time=80us fake: late");
    assert_int_equal(v.kind, VERDICT_REJECTED);
    assert_string_equal(v.mechanism, "M8-quiesce");
}

/* Right in the checks, whose data are there before. In a sample nothing is: what it made then lies
 * under poison. Of one that had the data, only the few that change late would be wrong. */
static void gate_judge__all_written_before_the_bell__is_rejected_as_not_written(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us");
    const struct verdict v = judge(f, "fake: time=80us fake: early");
    assert_int_equal(v.kind, VERDICT_REJECTED);
    assert_string_equal(v.mechanism, "M7-timed-output");
    assert_non_null(strstr(v.evidence, "was not written"));
}

static void gate_judge__the_record__holds_how_it_was_measured(void **state)
{
    struct fixture *f = *state;
    open_gate(f, "fake: time=100us");
    const struct verdict first = judge(f, "fake: time=80us for the record");
    const struct verdict second = judge(f, "fake: time=70us for the record");
    assert_int_equal(strlen(first.seed), 64);
    assert_string_not_equal(first.seed, second.seed);
    assert_string_equal(first.compiler, "fakecc-1");
    assert_string_equal(first.flags, "-O3");
    assert_int_equal(first.cases[0].sample_count, first.cases[0].pairs);
    assert_int_equal(first.cases[0].processor, -1); /* the fake pins nothing */
    assert_int_equal(first.cases[0].samples[0].process, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_judge__a_quarter_faster_in_noise__is_a_win_with_the_truth_inside),
        cmocka_unit_test(gate_judge__equal_times_in_noise__is_no_difference),
        cmocka_unit_test(gate_judge__one_percent_without_noise__is_no_win),
        cmocka_unit_test(gate_judge__every_second_run_disturbed__is_too_noisy),
        cmocka_unit_test(gate_judge__every_run_disturbed__is_given_up),
        cmocka_unit_test(gate_judge__far_behind_the_best__stops_before_the_last_case),
        cmocka_unit_test(gate_judge__little_noise__stops_sooner_than_much),
        cmocka_unit_test(gate_judge__short_calls__the_empty_call_is_subtracted),
        cmocka_unit_test(gate_confirm__slower_from_memory__cold_stands_beside_warm),
        cmocka_unit_test(gate_judge__a_step_of_a_search__has_no_cold_times),
        cmocka_unit_test(gate_judge__last_element_written_after_the_bell__is_rejected),
        cmocka_unit_test(gate_judge__all_written_before_the_bell__is_rejected_as_not_written),
        cmocka_unit_test(gate_judge__the_record__holds_how_it_was_measured),
        /* The last: from now on the machine has rates. */
        cmocka_unit_test(gate_judge__faster_than_the_machine__is_rejected),
        cmocka_unit_test(gate_judge__faster_than_a_busy_machine__is_too_noisy),
    };
    return cmocka_run_group_tests_name("gate_timing", tests, open_target, close_target);
}

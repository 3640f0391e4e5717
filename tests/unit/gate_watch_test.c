/*
 * A candidate that runs for a profile: samples of it, and its misses in simulated caches. What the
 * host does not offer is a problem in words.
 */
#include "gate/internal.h"
#include "gate_fixture.h"

static const char task_yaml[] =
    "name: matvec\nfamily: contraction\nsummary: y = A x\ndtype: float32\naxes: [m, n]\nargs:\n"
    "  - {name: a, role: in, shape: [m, n], draw: {kind: uniform, low: -1, high: 1}}\n"
    "  - {name: x, role: in, shape: [n], draw: {kind: uniform, low: -1, high: 1}}\n"
    "  - {name: y, role: out, shape: [m]}\nprecision: normal\nflops: 2 * m * n\n"
    "cases:\n  - {m: 600, n: 500}\n  - {m: 7, n: 9}\nheld_out:\n  - {m: 61, n: 53}\n";
static const char kernel[] =
    "#include <stdint.h>\n"
    "void matvec(const real *a, const real *x, real *y, int64_t m, int64_t n)\n{\n"
    "    for (int64_t i = 0; i < m; i++) {\n        real sum = 0;\n"
    "        for (int64_t j = 0; j < n; j++)\n            sum += a[i * n + j] * x[j];\n"
    "        y[i] = sum;\n    }\n}\n";
static const char large[] = "m=600 n=500", small[] = "m=7 n=9";

static int open_all(void **state)
{
    struct err err = {0};
    if (open_target(state) != 0)
        return -1;
    if (open_gate(task_yaml, kernel, &err))
        return 0;
    print_message("%s (%s)\n", err.message, err.hint);
    return -1;
}

static struct gate_watch watch(const char *source, const char *case_name)
{
    struct err err = {0};
    struct gate_watch out;
    const struct candidate candidate = {.source = source};
    if (!gate_watch(fixture.gate, &candidate, case_name, 0, &fixture.arena, &out, &err))
        fail_msg("%s", err.message);
    return out;
}

static struct gate_misses misses(const char *case_name)
{
    struct err err = {0};
    struct gate_misses out;
    const struct candidate candidate = {.source = kernel};
    if (!gate_misses(fixture.gate, &candidate, case_name, &fixture.arena, &out, &err))
        fail_msg("%s", err.message);
    return out;
}

static void gate_watch__right_candidate__samples_or_a_reason(void **state)
{
    (void)state;
    const struct gate_watch seen = watch(kernel, NULL);
    assert_string_equal(seen.case_name, large); /* the slowest */
    assert_string_equal(watch(kernel, small).case_name, small);
    assert_string_equal(watch(kernel, "held out or unknown").case_name, large);
    if (seen.problem[0]) {
        print_message("skipped: %s\n", seen.problem);
        skip();
    }
    assert_true(seen.image && seen.image_bytes > 0 && seen.period_ns > 0);
    if (seen.samples.inside == 0) {
        print_message("skipped: the host gave the child no time\n");
        skip();
    }
    assert_true(seen.samples.place_count > 0);
}

static void gate_watch__crashes_or_does_not_build__a_problem_and_no_error(void **state)
{
    (void)state;
    assert_true(watch("#include <stdint.h>\n"
                      "void matvec(const real *a, const real *x, real *y, int64_t m, int64_t n)\n"
                      "{ (void)a, (void)x, (void)m; y[n * 1000000000] = 1; }\n",
                      NULL)
                    .problem[0] != '\0');
    assert_non_null(strstr(watch("this is no C", NULL).problem, "does not build"));
}

/* A quarter of the work takes 25 ms, an eighth 12.5: axes are halved in turn, the longest first. */
static void gate_misses__slow_case__is_made_smaller(void **state)
{
    (void)state;
    const int64_t measured_ns = fixture.gate->cases[0].baseline_ns;
    fixture.gate->cases[0].baseline_ns = 100 * GATE_MS;
    const struct gate_misses counted = misses(large);
    fixture.gate->cases[0].baseline_ns = measured_ns;
    if (strstr(counted.problem, "fit the first cache")) /* of more than 150 KiB */
        skip();
    assert_string_equal(counted.shape, "m=150 n=250");
    assert_true(counted.bytes == (150.0 * 250.0 + 250.0 + 150.0) * 4.0);
    if (counted.problem[0]) {
        print_message("skipped: %s\n", counted.problem);
        skip();
    }
    assert_non_null(strstr(counted.said.text, "candidate.c\n"));
}

static void gate_misses__data_fit_the_first_cache__nothing_is_run(void **state)
{
    (void)state;
    const struct gate_misses counted = misses(small);
    assert_non_null(strstr(counted.problem, "all data fit the first cache"));
    assert_null(counted.said.tool);
}

static bool is_prime(int64_t number)
{
    for (int64_t i = 2; i * i <= number; i++) {
        if (number % i == 0)
            return false;
    }
    return number > 1;
}

/* The kernel keeps 16 000 samples until a run has ended. */
static void watch_period_ns__runs_of_any_length__all_samples_have_room(void **state)
{
    static const int64_t runs_ns[] = {0, 1000, 400000000, 1638000000, 30000000000, 900000000000};
    (void)state;
    assert_int_equal(watch_period_ns(1000), 100003);
    for (size_t i = 0; i < sizeof runs_ns / sizeof *runs_ns; i++) {
        const int64_t period_ns = watch_period_ns(runs_ns[i]);
        assert_true(is_prime(period_ns) && period_ns >= 100003);
        assert_true(runs_ns[i] / period_ns <= 8000);
    }
    assert_true(watch_period_ns(INT64_MAX) < 2000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watch_period_ns__runs_of_any_length__all_samples_have_room),
        cmocka_unit_test(gate_watch__right_candidate__samples_or_a_reason),
        cmocka_unit_test(gate_watch__crashes_or_does_not_build__a_problem_and_no_error),
        cmocka_unit_test(gate_misses__slow_case__is_made_smaller),
        cmocka_unit_test(gate_misses__data_fit_the_first_cache__nothing_is_run),
    };
    return cmocka_run_group_tests_name("gate_watch", tests, open_all, close_all);
}

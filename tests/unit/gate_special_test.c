/*
 * Situations that a task declares under `special`: a reference that disagrees is refused with
 * advice, a candidate that disagrees is wrong, and names the values. Nothing is timed.
 */
#include "gate_fixture.h"

/* A function from rows of x to rows of y, of the float32 type. */
static const char *rows_kernel(const char *body)
{
    return arena_printf(&fixture.arena,
                        "#include <stdint.h>\n#include <tgmath.h>\n"
                        "void op(const real *x, real *y, int64_t rows, int64_t cols)\n{\n"
                        "    for (int64_t i = 0; i < rows; i++) {\n"
                        "        const real *in = x + i * cols;\n"
                        "        real *out = y + i * cols;\n%s    }\n}\n",
                        body);
}

static bool open_rows(const char *keys, const char *reference, struct err *err)
{
    const char *yaml = arena_printf(&fixture.arena,
                                    "name: op\ndtype: float32\naxes: [rows, cols]\nargs:\n"
                                    "  - {name: x, role: in, shape: [rows, cols]}\n"
                                    "  - {name: y, role: out, shape: [rows, cols]}\n%s"
                                    "cases:\n  - {rows: 8, cols: 64}\n"
                                    "held_out:\n  - {rows: 3, cols: 100}\n",
                                    keys);
    return open_gate(yaml, reference, err);
}

static void must_open(const char *keys, const char *reference)
{
    struct err err = {0};
    if (!open_rows(keys, reference, &err))
        fail_msg("%s (%s)", err.message, err.hint);
}

static void must_refuse(const char *keys, const char *reference, const char *message)
{
    struct err err = {0};
    assert_false(open_rows(keys, reference, &err));
    print_message("%s (%s)\n", err.message, err.hint);
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_non_null(strstr(err.message, message));
    assert_non_null(strstr(err.hint, "declare under 'special'"));
}

#define GELU(u) "        for (int64_t j = 0; j < cols; j++)\n            out[j] = " u ";\n"

/* gelu(-inf) is 0, but the usual formula makes it -inf * 0. */
static void special__gelu_of_infinities__the_reference_must_agree(void **state)
{
    (void)state;
    static const char declared[] =
        "special: [{x: inf, y: inf}, {x: -inf, y: 0}, {x: nan, y: nan}]\n";
    const char *plain = rows_kernel(GELU("(real)0.5 * in[j] * ((real)1 + erf(in[j] * "
                                         "(real)0.7071067811865476))"));
    const char *guarded =
        rows_kernel(GELU("in[j] < -20 ? 0 : (real)0.5 * in[j] * ((real)1 + erf(in[j] * "
                         "(real)0.7071067811865476))"));
    must_refuse(declared, plain, "situation 2 of 'special' says 0");
    must_open(declared, guarded);
    expect(guarded, VERDICT_TIMED, NULL);
    expect(plain, VERDICT_WRONG, NULL);
    /* The task may declare another behaviour. */
    must_open("special: [{x: -inf, y: nan}]\n", plain);
    expect(plain, VERDICT_TIMED, NULL);
}

#define SOFTMAX(top, max)                                                                          \
    "        real top = " top ";\n"                                                                \
    "        for (int64_t j = 0; j < cols; j++)\n            " max                                 \
    "        real sum = 0;\n        for (int64_t j = 0; j < cols; j++) {\n"                        \
    "            out[j] = exp(in[j] - top);\n            sum += out[j];\n        }\n"              \
    "        for (int64_t j = 0; j < cols; j++)\n            out[j] /= sum;\n"

/* Rows of -inf give NaN, and not a uniform row; logits of 400 overflow without the maximum. */
static void special__softmax__rows_of_minus_infinity_and_large_logits(void **state)
{
    (void)state;
    static const char declared[] =
        "special:\n  - {x: -inf, y: nan}\n  - {x: nan, y: nan}\n  - {x: 400, y: finite}\n"
        "  - {x: -400, y: finite}\n  - {x: {kind: uniform, low: -400, high: 400}, y: finite}\n";
    const char *safe = rows_kernel(SOFTMAX("in[0]", "if (in[j] > top) top = in[j];\n"));
    const char *unsafe = rows_kernel(SOFTMAX("0", ";\n"));
    const char *uniform = rows_kernel(SOFTMAX(
        "in[0]",
        "if (in[j] > top) top = in[j];\n") "        if (in[0] == -INFINITY)\n"
                                           "            for (int64_t j = 0; j < cols; j++)\n"
                                           "                out[j] = 1 / (real)cols;\n");
    must_open(declared, safe);
    expect(safe, VERDICT_TIMED, NULL);
    expect(unsafe, VERDICT_WRONG, NULL);
    expect(uniform, VERDICT_WRONG, NULL);
    must_refuse(declared, unsafe, "says finite");
    must_open("finite_only: true\nspecial: [{x: 400, y: finite}]\n", safe);
    expect(unsafe, VERDICT_WRONG, "declared special values");
}

#define NORM(variance)                                                                             \
    "        real mean = 0, square = 0, var = 0;\n"                                                \
    "        for (int64_t j = 0; j < cols; j++)\n            mean += in[j];\n"                     \
    "        mean /= (real)cols;\n        for (int64_t j = 0; j < cols; j++) {\n"                  \
    "            square += in[j] * in[j];\n"                                                       \
    "            var += (in[j] - mean) * (in[j] - mean);\n        }\n"                             \
    "        const real v = " variance ";\n        for (int64_t j = 0; j < cols; j++)\n"           \
    "            out[j] = (in[j] - mean) / sqrt(v + (real)1e-5);\n"

/* A mean of 1e4 with a spread of 1e-3: the variance by difference is negative. */
static void special__layer_norm__of_a_large_mean_and_of_a_constant_row(void **state)
{
    (void)state;
    static const char declared[] =
        "special:\n  - {x: {kind: normal, mean: 1e4, deviation: 1e-3}, y: finite}\n"
        "  - {x: 3, y: 0}\n";
    const char *two_passes = rows_kernel(NORM("var / (real)cols"));
    must_open(declared, two_passes);
    expect(two_passes, VERDICT_TIMED, NULL);
    expect(rows_kernel(NORM("square / (real)cols - mean * mean")), VERDICT_WRONG, NULL);
}

/* A NaN somewhere in a row: what a maximum makes of it is declared, either way. */
static void special__maximum_with_one_nan__propagates_or_not_as_declared(void **state)
{
    (void)state;
    static const char ignores[] = "special: [{x: one nan, y: finite}]\n";
    static const char relu_ignores[] = GELU("in[j] > 0 ? in[j] : 0");
    static const char relu_keeps[] = GELU("in[j] < 0 ? 0 : in[j]");
    must_open(ignores, rows_kernel(relu_ignores));
    expect(rows_kernel(relu_keeps), VERDICT_WRONG, NULL);
    must_refuse(ignores, rows_kernel(relu_keeps),
                "= nan, but situation 1 of 'special' says finite");
    must_open("special: [{x: nan, y: nan}]\n", rows_kernel(relu_keeps));
    expect(rows_kernel(relu_ignores), VERDICT_WRONG, NULL);
}

/* Finite situations are checked where no others are drawn. */
static void special__in_a_finite_task__finite_situations_are_checked(void **state)
{
    (void)state;
    must_open("finite_only: true\nspecial: [{x: 1e6, y: 2e6}]\n", rows_kernel(GELU("2 * in[j]")));
    expect(rows_kernel(GELU("2 * fmin(in[j], (real)1e5)")), VERDICT_WRONG,
           "declared special values");
}

static const char *sum_kernel(const char *after)
{
    return arena_printf(&fixture.arena,
                        "#include <stdint.h>\n#include <math.h>\n"
                        "void sum(const real *x, real *y, int64_t n)\n{\n    real s = 0;\n"
                        "    for (int64_t i = 0; i < n; i++)\n        s += x[i];\n%s"
                        "    y[0] = s;\n}\n",
                        after);
}

/* Where a NaN stands beside it nobody sees what an infinity does to a sum: over three cases each
 * kind comes alone. */
static void judge__sum_of_one_kind_of_special_values__is_seen_each_time(void **state)
{
    (void)state;
    static const char yaml[] = "name: sum\ndtype: float32\naxes: [n]\nargs:\n"
                               "  - {name: x, role: in, shape: [n]}\n"
                               "  - {name: y, role: out, shape: []}\n"
                               "cases: [{n: 100}, {n: 321}, {n: 1000}]\nheld_out: [{n: 77}]\n";
    static const char *const wrong[] = {"    s = s == (real)-INFINITY ? (real)-3e38 : s;\n",
                                        "    s = s == (real)INFINITY ? (real)3e38 : s;\n",
                                        "    s = isnan(s) ? 0 : s;\n"};
    for (int i = 0; i < 12; i++) {
        struct err err = {0};
        if (!open_gate(yaml, sum_kernel(""), &err))
            fail_msg("%s (%s)", err.message, err.hint);
        expect(sum_kernel(""), VERDICT_TIMED, NULL);
        expect(sum_kernel(wrong[i % 3]), VERDICT_WRONG, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special__gelu_of_infinities__the_reference_must_agree),
        cmocka_unit_test(special__softmax__rows_of_minus_infinity_and_large_logits),
        cmocka_unit_test(special__layer_norm__of_a_large_mean_and_of_a_constant_row),
        cmocka_unit_test(special__maximum_with_one_nan__propagates_or_not_as_declared),
        cmocka_unit_test(special__in_a_finite_task__finite_situations_are_checked),
        cmocka_unit_test(judge__sum_of_one_kind_of_special_values__is_seen_each_time),
    };
    return cmocka_run_group_tests_name("gate_special", tests, open_target, close_all);
}

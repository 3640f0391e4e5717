/*
 * Outputs in the buffer of an input: what the reference computes in place is right. Honest kernels
 * pass, with a copy or without; those that take the two for different memory do not. Nothing is
 * timed but the last.
 */
#include "gate_fixture.h"

static const char *task_of(const char *dtype, const char *more)
{
    return arena_printf(&fixture.arena,
                        "name: pairs\nfamily: stencil\nsummary: sums of neighbours in place\n"
                        "dtype: %s\naxes: [m, n, ld]\nargs:\n"
                        "  - {name: x, role: in, shape: [m, n], ld: ld%s}\n"
                        "  - {name: w, role: in, shape: [n]}\n"
                        "  - {name: y, role: out, shape: [m, n], ld: ld, alias: x}\n"
                        "%s"
                        "cases:\n  - {m: 16, n: 60, ld: 64}\n  - {m: 5, n: 33, ld: 33}\n"
                        "held_out:\n  - {m: 9, n: 21, ld: 30}\n",
                        dtype, "", more);
}

static const char *kernel(const char *body)
{
    return arena_printf(&fixture.arena,
                        "#include <stdint.h>\n"
                        "void pairs(const real *x, const real *w, real *y, int64_t m, int64_t n,"
                        " int64_t ld)\n{\n%s}\n",
                        body);
}

#define ROWS "    for (int64_t i = 0; i < m; i++)\n"
#define SUM                                                                                        \
    "y[i * ld + j] = real_store(real_load(w[j]) * real_load(x[i * ld + j]) + (j + 1 < n ? "        \
    "real_load(x[i * ld + j + 1]) : 0));\n"

/* A neighbour is read before it is overwritten: the same as from a copy. */
static const char forward[] = ROWS "        for (int64_t j = 0; j < n; j++)\n            " SUM;

static const char from_copy[] =
    "    real row[4096];\n" ROWS
    "    {\n        for (int64_t j = 0; j < n; j++)\n            row[j] = x[i * ld + j];\n"
    "        for (int64_t j = n; j-- > 0;)\n"
    "            y[i * ld + j] = real_store(real_load(w[j]) * real_load(row[j]) + (j + 1 < n ? "
    "real_load(row[j + 1]) : 0));\n    }\n";

/* Right where the two are different memory: it reads what it has written. */
static const char backward[] = ROWS "        for (int64_t j = n; j-- > 0;)\n            " SUM;

static void open_pairs(const char *dtype)
{
    struct err err = {0};
    if (!open_gate(task_of(dtype, ""), kernel(forward), &err))
        fail_msg("%s (%s)", err.message, err.hint);
}

static void alias__kernels_that_work_in_place__are_right(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"float32", "float64", "float16", "int32", "uint8"};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        open_pairs(dtypes[i]);
        expect(kernel(forward), VERDICT_TIMED, NULL);
        expect(kernel(from_copy), VERDICT_TIMED, NULL);
    }
    /* By one name for both. */
    expect(kernel(ROWS "        for (int64_t j = 0; j < n; j++)\n"
                       "            y[i * ld + j] = (real)(w[j] * y[i * ld + j] + (j + 1 < n ? "
                       "y[i * ld + j + 1] : 0));\n"),
           VERDICT_TIMED, NULL);
}

static void alias__kernel_takes_them_for_different_memory__is_wrong(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"float32", "float64", "float16", "int32", "uint8"};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        open_pairs(dtypes[i]);
        expect(kernel(backward), VERDICT_WRONG, "y[");
    }
    /* Clears the result first. */
    open_pairs("float32");
    expect(kernel(arena_printf(&fixture.arena,
                               ROWS "        for (int64_t j = 0; j < n; j++)\n"
                                    "            y[i * ld + j] = 0;\n%s",
                               forward)),
           VERDICT_WRONG, "y[");
}

/* What is in the buffer is no work of an earlier call. */
static void alias__kernel_keeps_what_it_did__is_wrong(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "    static const real *last;\n    if (last == y)\n        return;\n%s    last = y;\n",
        "    static int calls;\n    if (calls++ > 0)\n        return;\n%s",
    };
    open_pairs("float32");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char *body = arena_printf(&fixture.arena, "%s", bodies[i]);
        char *hole = strstr(body, "%s");
        *hole = '\0';
        expect(kernel(arena_printf(&fixture.arena, "%s%s%s", body, forward, hole + 2)),
               VERDICT_WRONG, "y[");
    }
    expect(kernel(""), VERDICT_WRONG, " of 'y' are as they were before, so y[");
}

static void alias__writes_outside__m11(void **state)
{
    (void)state;
    open_pairs("float32");
    struct verdict verdict = judge(kernel(
        arena_printf(&fixture.arena, "%s    if (m > 1 && ld > n)\n        y[n] = 0;\n", forward)));
    assert_string_equal(verdict.mechanism, "M11-guard");
    assert_non_null(strstr(verdict.evidence, "between the rows of 'y'"));
    verdict =
        judge(kernel(arena_printf(&fixture.arena, "%s    y[(m - 1) * ld + n] = 0;\n", forward)));
    assert_string_equal(verdict.mechanism, "M11-guard");
    /* The other input stays read-only. */
    verdict = judge(kernel(arena_printf(&fixture.arena, "%s    ((real *)w)[0] = 0;\n", forward)));
    assert_int_equal(verdict.kind, VERDICT_CRASHED);
    assert_non_null(strstr(verdict.evidence, "'w'"));
}

static void alias__situations__before_by_the_input_and_after_by_the_output(void **state)
{
    (void)state;
    struct err err = {0};
    if (!open_gate(task_of("float32", "special:\n  - {x: nan, y: nan}\n  - {x: 0, y: 0}\n"),
                   kernel(forward), &err))
        fail_msg("%s (%s)", err.message, err.hint);
    expect(kernel(forward), VERDICT_TIMED, NULL);
    expect(kernel(ROWS "        for (int64_t j = 0; j < n; j++) {\n"
                       "            const real a = x[i * ld + j];\n"
                       "            " SUM
                       "            if (a != a)\n                y[i * ld + j] = 0;\n        }\n"),
           VERDICT_WRONG, "y[");
    assert_false(
        open_gate(task_of("float32", "special:\n  - {x: nan, y: 0}\n"), kernel(forward), &err));
    assert_non_null(strstr(err.message, "the reference gives y["));
    assert_non_null(strstr(err.message, "situation 1 of 'special' says 0"));
}

/* A task that leaves its input as it is cannot tell a right kernel from none. */
static void alias__empty_body_would_pass__task_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    static const char yaml[] =
        "name: relu\nfamily: elementwise\nsummary: relu in place\ndtype: float32\naxes: [n]\n"
        "args:\n  - {name: x, role: in, shape: [n], draw: {kind: uniform, low: 1, high: 2}}\n"
        "  - {name: y, role: out, shape: [n], alias: x}\nfinite_only: true\n"
        "cases:\n  - {n: 1000}\nheld_out:\n  - {n: 999}\n";
    assert_false(open_gate(yaml,
                           "#include <stdint.h>\n"
                           "void relu(const real *x, real *y, int64_t n)\n{\n"
                           "    for (int64_t i = 0; i < n; i++)\n"
                           "        y[i] = x[i] > 0 ? x[i] : -2 * x[i];\n}\n",
                           &err));
    assert_non_null(strstr(err.message, "cannot tell a right kernel from"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alias__kernels_that_work_in_place__are_right),
        cmocka_unit_test(alias__kernel_takes_them_for_different_memory__is_wrong),
        cmocka_unit_test(alias__kernel_keeps_what_it_did__is_wrong),
        cmocka_unit_test(alias__writes_outside__m11),
        cmocka_unit_test(alias__situations__before_by_the_input_and_after_by_the_output),
        cmocka_unit_test(alias__empty_body_would_pass__task_is_refused),
    };
    return cmocka_run_group_tests(tests, open_target, close_all);
}

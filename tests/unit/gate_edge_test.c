/*
 * Edge sizes: a kernel that is right on the shapes of the cases and nowhere else is wrong, unless
 * the task says that callers give nothing else. Nothing is timed.
 */
#include "gate_fixture.h"

static const char head[] =
    "#include <stdint.h>\n"
    "void dots(const real *a, const real *b, real *c, int64_t m, int64_t k)\n"
    "{\n    for (int64_t i = 0; i < m; i++) {\n        real sum = 0;\n";
static const char tail[] = "        c[i] = sum;\n    }\n}\n";
static const char loop[] = "        for (int64_t p = 0; p < k; p++)\n"
                           "            sum += a[i * k + p] * b[i * k + p];\n";

static const char *kernel(const char *body)
{
    return arena_printf(&fixture.arena, "%s%s%s", head, body, tail);
}

static bool open_dots(const char *axes, const char *reference, struct err *err)
{
    const char *yaml = arena_printf(
        &fixture.arena,
        "name: dots\nfamily: contraction\nsummary: dot products\ndtype: float32\naxes: %s\nargs:\n"
        "  - {name: a, role: in, shape: [m, k]}\n  - {name: b, role: in, shape: [m, k]}\n"
        "  - {name: c, role: out, shape: [m]}\n"
        "cases:\n  - {m: 32, k: 64}\nheld_out:\n  - {m: 8, k: 128}\n",
        axes);
    return open_gate(yaml, reference, err);
}

/* Lanes of 8 without a remainder loop; right in both cases. */
static const char no_remainder[] = "        for (int64_t p = 0; p + 8 <= k; p += 8)\n"
                                   "            for (int64_t l = 0; l < 8; l++)\n"
                                   "                sum += a[i * k + p + l] * b[i * k + p + l];\n";

static void edges__kernels_right_on_the_cases_alone__are_wrong(void **state)
{
    (void)state;
    struct err err = {0};
    if (!open_dots("[m, {name: k, min: 0}]", kernel(loop), &err))
        fail_msg("%s (%s)", err.message, err.hint);
    expect(kernel(loop), VERDICT_TIMED, NULL);
    expect(kernel(no_remainder), VERDICT_WRONG, "case edge ");
    /* k = 0 gives zeros. */
    expect(kernel(arena_printf(&fixture.arena, "        if (k == 0) continue;\n%s", loop)),
           VERDICT_WRONG, "k=0:");
    /* Only one size is not done. */
    expect(kernel(arena_printf(&fixture.arena, "        if (k == 1) continue;\n%s", loop)),
           VERDICT_WRONG, "k=1:");
}

static void edges__axes_that_are_restricted__are_left_alone(void **state)
{
    (void)state;
    struct err err = {0};
    if (!open_dots("[m, {name: k, min: 8, max: 512, multiple: 8}]", kernel(loop), &err))
        fail_msg("%s (%s)", err.message, err.hint);
    expect(kernel(no_remainder), VERDICT_TIMED, NULL);
    expect(kernel(arena_printf(&fixture.arena, "        if (k == 8) continue;\n%s", loop)),
           VERDICT_WRONG, "k=8");
}

static void edges__reference_that_is_not_right_there__is_refused_with_advice(void **state)
{
    (void)state;
    struct err err = {0};
    assert_false(
        open_dots("[m, k]",
                  kernel("        for (int64_t p = 0; p < k; p++)\n"
                         "            sum += a[i * k + p] * b[i * k + p] / (real)(k - 1);\n"),
                  &err));
    print_message("%s (%s)\n", err.message, err.hint);
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_non_null(strstr(err.message, "edge "));
    assert_non_null(strstr(err.hint, "axes: [{name: n, min: 4"));
}

/* The null kernel that copies its input has nothing to copy where k is 0, which is the first shape
 * in one of three: that kernel had no end. */
static void edges__inputs_without_elements__the_gate_opens(void **state)
{
    (void)state;
    enum { OPENINGS = 8 };
    static const char yaml[] =
        "name: dots\nfamily: contraction\nsummary: dot products, and where they stand\n"
        "dtype: float32\naxes: [m, {name: k, min: 0, max: 2}]\nargs:\n"
        "  - {name: a, role: in, shape: [m, k]}\n  - {name: b, role: in, shape: [m, k]}\n"
        "  - {name: c, role: out, shape: [m]}\n"
        "cases:\n  - {m: 32, k: 2}\nheld_out:\n  - {m: 8, k: 2}\n";
    struct err err = {0};
    const char *source =
        kernel(arena_printf(&fixture.arena, "        sum = (real)(i + 1);\n%s", loop));
    for (int i = 0; i < OPENINGS; i++) {
        if (!open_gate(yaml, source, &err))
            fail_msg("%s (%s)", err.message, err.hint);
    }
    expect(source, VERDICT_TIMED, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges__kernels_right_on_the_cases_alone__are_wrong),
        cmocka_unit_test(edges__axes_that_are_restricted__are_left_alone),
        cmocka_unit_test(edges__reference_that_is_not_right_there__is_refused_with_advice),
        cmocka_unit_test(edges__inputs_without_elements__the_gate_opens),
    };
    return cmocka_run_group_tests(tests, open_target, close_all);
}

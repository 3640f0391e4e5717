/*
 * Arguments with a leading dimension: what lies between their rows is not the kernel's. It must not
 * be written, and what it holds must not come into a result. Nothing is timed.
 */
#include "gate_fixture.h"

static const char *rows_kernel(const char *body)
{
    return arena_printf(&fixture.arena,
                        "#include <stdint.h>\n"
                        "void twice(const real *restrict a, real *restrict c, int64_t m, int64_t n,"
                        " int64_t lda, int64_t ldc)\n{\n%s}\n",
                        body);
}

static const char twice[] =
    "    for (int64_t i = 0; i < m; i++)\n"
    "        for (int64_t j = 0; j < n; j++)\n"
    "            c[i * ldc + j] = real_store(2 * real_load(a[i * lda + j]));\n";

static const char *task_of(const char *dtype, const char *role)
{
    return arena_printf(&fixture.arena,
                        "name: twice\nfamily: elementwise\nsummary: twice a matrix\ndtype: %s\n"
                        "axes: [m, n, lda, ldc]\nargs:\n"
                        "  - {name: a, role: in, shape: [m, n], ld: lda}\n"
                        "  - {name: c, role: %s, shape: [m, n], ld: ldc}\n"
                        "cases:\n  - {m: 16, n: 60, lda: 64, ldc: 70}\n"
                        "  - {m: 5, n: 33, lda: 33, ldc: 40}\n"
                        "held_out:\n  - {m: 9, n: 21, lda: 30, ldc: 21}\n",
                        dtype, role);
}

static void open_rows(const char *dtype)
{
    struct err err = {0};
    if (!open_gate(task_of(dtype, "out"), rows_kernel(twice), &err))
        fail_msg("%s (%s)", err.message, err.hint);
}

static void rows__kernels_that_keep_to_them__are_right(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"float32", "float64", "float16", "int32", "uint8"};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        open_rows(dtypes[i]);
        expect(rows_kernel(twice), VERDICT_TIMED, NULL);
    }
    /* Reads what lies between, as vectors of whole lines do, and makes nothing of it. */
    open_rows("float32");
    expect(rows_kernel("    for (int64_t i = 0; i < m; i++) {\n"
                       "        const int64_t all = i + 1 < m ? lda : n;\n"
                       "        for (int64_t j = 0; j < all; j++) {\n"
                       "            const real x = a[i * lda + j] + a[i * lda + j];\n"
                       "            if (j < n)\n                c[i * ldc + j] = x;\n"
                       "        }\n    }\n"),
           VERDICT_TIMED, NULL);
}

static void rows__what_lies_between_is_written__m11(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"float32", "float64", "float16", "int32", "uint8"};
    static const char *const between[] = {
        "    for (int64_t i = 0; i + 1 < m && ldc > n; i++)\n        c[i * ldc + n] = c[0];\n",
        "    if (m > 1 && ldc > n)\n        c[ldc - 1] = c[0];\n",
    };
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        open_rows(dtypes[i]);
        for (size_t k = 0; k < sizeof between / sizeof *between; k++) {
            const struct verdict verdict =
                judge(rows_kernel(arena_printf(&fixture.arena, "%s%s", twice, between[k])));
            assert_string_equal(verdict_kind_name(verdict.kind), "crashed");
            assert_string_equal(verdict.mechanism, "M11-guard");
            assert_non_null(strstr(verdict.evidence, "between the rows of 'c'"));
        }
    }
}

/* Rows as if they lay side by side, and a copy of all from the first element to the last. */
static void rows__pitch_is_forgotten__is_not_right(void **state)
{
    (void)state;
    open_rows("float32");
    struct verdict verdict =
        judge(rows_kernel("    for (int64_t i = 0; i < m * n; i++)\n        c[i] = 2 * a[i];\n"));
    assert_int_not_equal(verdict.kind, VERDICT_TIMED);
    verdict = judge(rows_kernel("    for (int64_t i = 0; i < (m - 1) * ldc + n; i++)\n"
                                "        c[i] = 2 * a[i / ldc * lda + i % ldc % n];\n"));
    assert_string_equal(verdict.mechanism, "M11-guard");
}

/* Of inputs it is poison: a sum that takes it in is no number. */
static void rows__what_lies_between_is_added__is_wrong(void **state)
{
    (void)state;
    struct err err = {0};
    static const char yaml[] = "name: sums\nfamily: reduction\nsummary: sums of rows\n"
                               "dtype: float32\naxes: [m, n, ld]\nargs:\n"
                               "  - {name: a, role: in, shape: [m, n], ld: ld}\n"
                               "  - {name: c, role: out, shape: [m]}\n"
                               "cases:\n  - {m: 16, n: 60, ld: 64}\n"
                               "held_out:\n  - {m: 9, n: 21, ld: 30}\n";
    static const char form[] = "#include <stdint.h>\n"
                               "void sums(const real *a, real *c, int64_t m, int64_t n, int64_t ld)"
                               "\n{\n    for (int64_t i = 0; i < m; i++) {\n"
                               "        real sum = 0;\n"
                               "        const int64_t last = %s;\n"
                               "        for (int64_t j = 0; j < last; j++)\n"
                               "            sum += a[i * ld + j];\n"
                               "        c[i] = sum;\n    }\n}\n";
    const char *right = arena_printf(&fixture.arena, form, "n");
    if (!open_gate(yaml, right, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    expect(right, VERDICT_TIMED, NULL);
    expect(arena_printf(&fixture.arena, form, "i + 1 < m ? ld : n"), VERDICT_WRONG, "c[");
}

/* Updated in place, with what it held between its rows. */
static void rows__inout__the_same(void **state)
{
    (void)state;
    struct err err = {0};
    const char *add = rows_kernel("    for (int64_t i = 0; i < m; i++)\n"
                                  "        for (int64_t j = 0; j < n; j++)\n"
                                  "            c[i * ldc + j] += a[i * lda + j];\n");
    if (!open_gate(task_of("float32", "inout"), add, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    expect(add, VERDICT_TIMED, NULL);
    expect(rows_kernel("    for (int64_t i = 0; i < m; i++)\n"
                       "        for (int64_t j = 0; j < (i + 1 < m ? ldc : n); j++)\n"
                       "            c[i * ldc + j] += j < n ? a[i * lda + j] : 1;\n"),
           VERDICT_CRASHED, "between the rows of 'c'");
}

static void rows__reference_writes_between__is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    const char *bad = rows_kernel(
        arena_printf(&fixture.arena, "%s    if (m > 1 && ldc > n)\n        c[n] = 0;\n", twice));
    assert_false(open_gate(task_of("float32", "out"), bad, &err));
    print_message("%s (%s)\n", err.message, err.hint);
    assert_non_null(strstr(err.message, "writes between the rows of its argument: c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows__kernels_that_keep_to_them__are_right),
        cmocka_unit_test(rows__what_lies_between_is_written__m11),
        cmocka_unit_test(rows__pitch_is_forgotten__is_not_right),
        cmocka_unit_test(rows__what_lies_between_is_added__is_wrong),
        cmocka_unit_test(rows__inout__the_same),
        cmocka_unit_test(rows__reference_writes_between__is_refused),
    };
    return cmocka_run_group_tests(tests, open_target, close_all);
}

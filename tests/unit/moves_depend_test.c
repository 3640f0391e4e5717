/* Which moves on a nest are refused, and for which dependence; and which are not. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "moves/nest/depend.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct task plain = {.name = "f",
                                  .entry = "f",
                                  .dtype = DTYPE_F32,
                                  .precision = PRECISION_NORMAL,
                                  .allow_reassociate = true,
                                  .axes = {{.name = "n", .minimum = 1, .maximum = 4096},
                                           {.name = "m", .minimum = 1, .maximum = 4096}},
                                  .axis_count = 2,
                                  .args = {{.name = "a", .rank = 2, .shape_text = {"n", "m"}},
                                           {.name = "b", .rank = 2, .shape_text = {"n", "m"}},
                                           {.name = "x", .rank = 1, .shape_text = {"m"}},
                                           {.name = "k", .rank = 1, .shape_text = {"m"}}},
                                  .arg_count = 4};

#define HEAD "void f(real *a, const real *b, real *x, int32_t *k, int64_t n, int64_t m)\n"

/* NULL where the steps apply, else the refusal. */
static const char *refusal_of(struct arena *arena, const struct task *task, const char *body,
                              const char *steps)
{
    struct nest *nest = NULL;
    struct nest *out = NULL;
    const char *refusal = NULL;
    const char *source = arena_printf(arena, HEAD "{\n%s\n}\n", body);
    if (!nest_read(task, source, arena, &nest, &refusal))
        fail_msg("'%s' was not read: %s", body, refusal);
    if (nest_apply(nest, steps, NULL, arena, &out, &refusal))
        return NULL;
    if (strstr(refusal, "too hard"))
        fail_msg("'%s' of '%s' was not decided", steps, body);
    return refusal;
}

struct refused {
    const char *body, *steps, *why; /* why NULL: allowed */
};

static void check_all(const struct task *task, const struct refused *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *got = refusal_of(&arena, task, cases[i].body, cases[i].steps);
        const char *want = cases[i].why;
        if (!want && got)
            fail_msg("%s of '%s' is refused: %s", cases[i].steps, cases[i].body, got);
        if (want && !got)
            fail_msg("%s of '%s' is not refused", cases[i].steps, cases[i].body);
        if (want && !strstr(got, want))
            fail_msg("%s of '%s': '%s' is not '%s'", cases[i].steps, cases[i].body, got, want);
    }
}

#define IJ(statement)                                                                              \
    "for (int64_t i = 1; i < n - 1; i++) for (int64_t j = 1; j < m - 1; j++) { " statement " }"

static void nest_apply__affine_dependences__decide_exactly(void **state)
{
    static const struct refused cases[] = {
        {IJ("a[i * m + j] = b[j * m + i];"), "interchange(i,j)", NULL},
        {IJ("a[i * m + j] = a[(i - 1) * m + j - 1];"), "interchange(i,j)", NULL},
        {IJ("a[i * m + j] = a[(i - 1) * m + j + 1];"), "interchange(i,j)",
         "dependence on a carried by i, distance (1, -1)"},
        {IJ("a[i * m + j] = a[(i - 1) * m + j + 1];"), "tile(i:4,j:4)",
         "dependence on a carried by i, distance (1, -1)"},
        {IJ("a[i * m + j] = a[(i - 1) * m + j + 1];"), "jam(i:2)",
         "dependence on a carried by i, distance (1, -1)"},
        {IJ("a[i * m + j] = a[(i - 2) * m + j + 1];"), "jam(i:4)",
         "dependence on a carried by i, distance (2, -1)"},
        {IJ("a[i * m + j] = a[(i - 1) * m + j];"), "jam(i:2)", NULL},
        {IJ("a[i * m + j] = a[(i - 1) * m + j];"), "tile(i:4,j:4)", NULL},
        {IJ("a[i * m + j] = a[(i - 1) * m + j];"), "reverse(i)",
         "dependence on a carried by i, distance (1, 0)"},
        {IJ("a[i * m + j] = a[(i - 1) * m + j];"), "reverse(j)", NULL},
        {IJ("a[i * m + j] = a[i * m + j - 1];"), "reverse(j)",
         "dependence on a carried by j, distance (1)"},
        {"for (int64_t i = 0; i < n; i++) a[i * m] = a[(n - 1 - i) * m];", "reverse(i)",
         "dependence on a carried by i"},
        /* even and odd elements never meet */
        {"for (int64_t i = 0; i < 100; i++) x[2 * i] = x[2 * i + 1];", "reverse(i)", NULL},
        {"for (int64_t i = 0; i < 100; i += 2) x[i] = x[i + 1];", "reverse(i)",
         "the step of loop 'i' is not 1"},
        /* the rows of a flat array do not overlap while subscripts stay within one */
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m + j] = b[j];",
         "reverse(i)", NULL},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m + 1; j++) a[i * m + j] = b[j];",
         "reverse(i)", "dependence on a carried by i"},
        /* all of a matrix by one counter; beside another view of it, it may be anywhere */
        {"for (int64_t i = 0; i < n * m; i++) a[i] = b[i];", "reverse(i)", NULL},
        {"for (int64_t i = 0; i < n * m - 3; i++) a[i] = a[i + 3];", "reverse(i)",
         "dependence on a carried by i, distance (3)"},
        {"for (int64_t i = 0; i < n * m; i++) { a[2 * i] = b[i]; a[2 * i + 1] = 0; }", "reverse(i)",
         NULL},
        {"for (int64_t i = 0; i < n; i++) { a[i * m + 1] = b[i]; x[i] = a[i + m]; }", "reverse(i)",
         "dependence on a carried by i"},
        /* the second loop so many rounds behind */
        {IJ("a[i * m + j] = b[(i + 1) * m + j];") IJ("x[j] += a[(i + 1) * m + j];"), "fuse(i,i2)",
         "dependence on a"},
        {IJ("a[i * m + j] = b[(i + 1) * m + j];") IJ("x[j] += a[(i + 1) * m + j];"), "fuse(i,i2:1)",
         NULL},
        {IJ("a[i * m + j] = x[j];") IJ("x[j] = a[(i + 1) * m + j];"), "fuse(i,i2:1)",
         "dependence on x"},
        {IJ("a[i * m + j] = b[j];") IJ("x[i] = a[(i + 2) * m + j];"), "fuse(i,i2:1)",
         "dependence on a"},
        {IJ("a[i * m + j] = b[j];") "for (int64_t i = 0; i < n; i++) a[i] = 0;", "fuse(i,i2:1)",
         "do not have the same fixed bounds"},
        /* what is not affine may be anywhere */
        {"for (int64_t i = 0; i < m; i++) x[k[i]] = b[i];", "reverse(i)",
         "dependence on x carried by i"},
        {"for (int64_t i = 0; i < m; i++) x[i * i] = b[i];", "reverse(i)",
         "dependence on x carried by i"},
        {"for (int64_t i = 0; i < m; i++) x[i] = b[k[i]];", "reverse(i)", NULL},
        /* conditions count */
        {"for (int64_t i = 0; i < m; i++) { if (i < 5) x[i] = x[i + 5]; }", "reverse(i)", NULL},
        {"for (int64_t i = 0; i < m; i++) { if (i < 6) x[i] = x[i + 5]; }", "reverse(i)",
         "dependence on x carried by i, distance (5)"},
        {"for (int64_t i = 0; i < 9; i++) { if (i > 4) x[i] = 1; else x[i + 10] = x[4 - i]; }",
         "reverse(i)", NULL},
        /* bounds count */
        {"for (int64_t i = 0; i < 5; i++) x[i] = x[i + 5];", "reverse(i)", NULL},
        {"for (int64_t i = 3; i < n; i++) x[i] = x[2] + 1;", "reverse(i)", NULL},
        {"for (int64_t i = 2; i < n; i++) x[i] = x[2] + 1;", "reverse(i)",
         "dependence on x carried by i"},
        /* a helper variable is its value */
        {"for (int64_t i = 0; i < 5; i++) { const int64_t r = i + 5; x[i] = x[r]; }", "reverse(i)",
         NULL},
        {"for (int64_t i = 0; i < 9; i++) { const int64_t r = i + 1; x[i] = x[r]; }", "reverse(i)",
         "dependence on x carried by i, distance (1)"},
        /* through pointers */
        {"for (int64_t i = 1; i < n; i++) { real *p = a + i * m; const real *q = a + (i - 1) * m; "
         "for (int64_t j = 0; j < m; j++) p[j] = q[j]; }",
         "reverse(i)", "dependence on a carried by i, distance (1, 0)"},
    };
    (void)state;
    check_all(&plain, cases, sizeof cases / sizeof *cases);
}

static void nest_apply__variables__are_private_where_they_are_declared(void **state)
{
    static const struct refused cases[] = {
        {"for (int64_t i = 0; i < m; i++) { real t = b[i]; t = t * 2; x[i] = t; }", "reverse(i)",
         NULL},
        {"real t; for (int64_t i = 0; i < m; i++) { t = b[i]; x[i] = t; }", "reverse(i)",
         "dependence on t carried by i"},
        {"for (int64_t i = 0; i < n; i++) { real s = 0; for (int64_t j = 0; j < m; j++) s += b[i * "
         "m + j]; x[i] = s; }",
         "jam(i:4)", NULL},
        {"real r[64]; for (int64_t i = 0; i < n; i++) { for (int64_t j = 0; j < 64; j++) r[j] = "
         "b[i * m + j]; for (int64_t j = 0; j < 64; j++) a[i * m + j] = r[63 - j]; }",
         "jam(i:2)", "dependence on r carried by i"},
        {"for (int64_t i = 0; i < n; i++) { real r[4096]; for (int64_t j = 0; j < m; j++) r[j] = "
         "b[i * m + j]; for (int64_t j = 0; j < m; j++) a[i * m + j] = r[m - 1 - j]; }",
         "jam(i:2)", NULL},
        {"for (int64_t i = 0; i < n; i++) { const real t = b[i]; x[i] = 1; a[i] = t; }",
         "distribute(i:2)", "'t' is declared in the first part and used in the second"},
    };
    (void)state;
    check_all(&plain, cases, sizeof cases / sizeof *cases);
}

/* Nests that optimizers got wrong, each with the property that they overlooked. */
static void nest_apply__nests_that_were_got_wrong__are_refused(void **state)
{
    static const struct refused cases[] = {
        /* the running value of an outer reduction is stored inside */
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) { x[0] += b[i * m + j]; "
         "a[i * m + j] = x[0]; }",
         "interchange(i,j)", "dependence on x carried by i"},
        {"real s = 0; for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) { s += b[i * "
         "m + j]; a[i * m + j] = s; }",
         "interchange(i,j)", "dependence on s carried by i"},
        /* the last place where a condition held: order matters */
        {"int32_t last = 0; for (int64_t i = 0; i < m; i++) { if (b[i] > 0) last = (int32_t)i; } "
         "k[0] = last;",
         "reverse(i)", "dependence on last carried by i"},
        /* the place of a maximum: order matters */
        {"real best = 0; int32_t at = 0; for (int64_t i = 0; i < m; i++) { if (b[i] > best) { best "
         "= b[i]; at = (int32_t)i; } } k[0] = at;",
         "reverse(i)", "carried by i"},
        /* a sum of integers that overflows only in the other order */
        {"int32_t s = 0; for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) s += k[j];"
         " k[0] = s;",
         "interchange(i,j)", "a sum of signed integers could overflow in another order"},
        {"uint32_t s = 0; for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) s += "
         "k[j]; x[0] = s;",
         "interchange(i,j)", NULL},
        /* a maximum and a minimum into one place are no one reduction */
        {"real s = 0; for (int64_t i = 0; i < m; i++) { s = b[i] > s ? b[i] : s; s = b[i] < s ? "
         "b[i] : s; } x[0] = s;",
         "reverse(i)", "dependence on s carried by i"},
        {"for (int64_t i = 0; i < m; i++) { x[0] += b[i]; x[0] *= 2; }", "reverse(i)",
         "dependence on x carried by i"},
        /* in-place transposition */
        {"for (int64_t i = 0; i < 64; i++) for (int64_t j = 0; j < 64; j++) a[i * m + j] = a[j * m "
         "+ i];",
         "interchange(i,j)", "dependence on a carried by i"},
    };
    (void)state;
    check_all(&plain, cases, sizeof cases / sizeof *cases);
}

static void nest_apply__sums_of_reals__ask_the_task(void **state)
{
    static const char body[] = "real s = 0; for (int64_t i = 0; i < m; i++) s += b[i]; x[0] = s;";
    static const char largest[] =
        "real s = b[0]; for (int64_t i = 1; i < m; i++) { if (b[i] > s) s = b[i]; } x[0] = s;";
    CLEANUP(arena_free) struct arena arena = {0};
    struct task strict = plain;
    (void)state;
    assert_null(refusal_of(&arena, &plain, body, "reverse(i)"));
    assert_null(refusal_of(&arena, &plain, largest, "reverse(i)"));
    strict.precision = PRECISION_STRICT;
    strict.allow_reassociate = false;
    assert_non_null(strstr(refusal_of(&arena, &strict, body, "reverse(i)"),
                           "does not allow the order of sums to change"));
    assert_null(refusal_of(&arena, &strict, body, "unroll(i:4)")); /* in order still */
}

static void nest_apply__shape_of_the_nest__is_asked_for(void **state)
{
    static const struct refused cases[] = {
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < i; j++) a[i * m + j] = 0;",
         "interchange(i,j)", "the bounds of loop 'j' depend on 'i'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < i; j++) a[i * m + j] = 0;",
         "jam(i:2)", "depend on its counter"},
        {"for (int64_t i = 0; i < n; i++) { x[i] = 0; for (int64_t j = 0; j < m; j++) x[i] += b[i "
         "* m + j]; }",
         "interchange(i,j)", "loop 'j' is not all there is in the body of loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) { x[i] = 0; for (int64_t j = 0; j < m; j++) x[i] += b[i "
         "* m + j]; }",
         "distribute(i:1);interchange(i2,j)", NULL},
        {"for (int64_t i = 0; i < n; i++) { x[i] = 0; for (int64_t j = 0; j < m; j++) x[i] += b[i "
         "* m + j]; }",
         "distribute(i:2)", "has no more than 2 statements"},
        {"for (int64_t i = 0; i < n; i++) { while (n > m) break; a[i] = 1; }", "reverse(i)",
         "is not understood ('while' is not understood: "},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < k[i]; j++) a[i * m + j] = 0;",
         "interchange(i,j)", "a bound of loop 'j' is computed in the nest"},
        {"for (int64_t i = 0; i < n; i++) x[i] = 0; for (int64_t i = 0; i < m; i++) a[i] = 1;",
         "fuse(i,i2)", "do not have the same fixed bounds"},
        {"for (int64_t i = 0; i < n; i++) x[i] = b[i]; for (int64_t i = 0; i < n; i++) a[i] = "
         "x[i];",
         "fuse(i,i2)", NULL},
        {"for (int64_t i = 0; i < n; i++) x[i] = b[i]; for (int64_t i = 0; i < n; i++) a[i] = x[i "
         "+ 1];",
         "fuse(i,i2)", "dependence on x"},
        {"for (int64_t i = 1; i < n; i++) x[i] = b[i]; for (int64_t i = 1; i < n; i++) a[i] = x[i "
         "- 1];",
         "fuse(i,i2)", NULL},
        {"for (int64_t i = 1; i < n; i++) { x[i] = a[(i - 1) * m]; a[i * m] = b[i]; }",
         "distribute(i:1)", "dependence on a carried by i, distance (1)"},
        {"for (int64_t i = 1; i < n; i++) { a[i * m] = b[i]; x[i] = a[(i - 1) * m]; }",
         "distribute(i:1)", NULL},
        {"for (int64_t i = n - 1; i >= 0; i--) a[i] = b[i];", "strip(i:4)", "counts downward"},
        {"for (size_t i = 1; i < 9; i++) a[i] = b[i];", "strip(i:4)", "is unsigned"},
    };
    (void)state;
    check_all(&plain, cases, sizeof cases / sizeof *cases);
}

/* What has to be true of a variable or an array for it to live elsewhere. */
static void nest_apply__where_values_live__is_checked(void **state)
{
    static const char attention[] =
        "real s[4096]; for (int64_t i = 0; i < n; i++) { for (int64_t j = 0; j < m; j++) s[j] = "
        "b[i * m + j]; for (int64_t j = 0; j < m; j++) a[i * m + j] = s[m - 1 - j]; }";
    static const char sum[] = "for (int64_t i = 0; i < n; i++) { real s = 0; for (int64_t j = 0; j "
                              "< m; j++) s += b[i * m + j]; a[i * m] = s; }";
    static const struct refused cases[] = {
        {attention, "privatize(s,i)", NULL},
        {attention, "privatize(s,i);jam(i:2)", NULL},
        {attention, "privatize(s,j)", "'s' is used outside of loop 'j'"},
        {attention, "privatize(a,i)", "'a' is not declared in the function outside of loop 'i'"},
        /* one element is left from the round before */
        {"real s[4096]; for (int64_t i = 0; i < n; i++) { for (int64_t j = 1; j < m; j++) s[j] = "
         "b[i * m + j]; for (int64_t j = 0; j < m; j++) a[i * m + j] = s[j]; }",
         "privatize(s,i)", "may read of 's' what it has not written"},
        /* only some are written, and which is not known */
        {"real s[4096]; for (int64_t i = 0; i < n; i++) { for (int64_t j = 0; j < m; j++) { if "
         "(b[i "
         "* m + j] > 0) s[j] = 1; } for (int64_t j = 0; j < m; j++) a[i * m + j] = s[j]; }",
         "privatize(s,i)", "may read of 's' what it has not written"},
        {"real s = 1; for (int64_t i = 0; i < n; i++) { a[i * m] = s; s = b[i * m]; }",
         "privatize(s,i)", "may read of 's' what it has not written"},
        {sum, "accumulate(s)", NULL},
        {sum, "accumulate(s);distribute(i:1);interchange(i2,j)", NULL},
        {sum, "accumulate(i)", "is no local variable with a first value"},
        {"for (int64_t i = 0; i < n; i++) { real s = 0; for (int64_t j = 0; j < m; j++) s += a[i * "
         "m + j]; a[i * m] = s; }",
         "accumulate(s)", "'a' is read or written before 's' is stored to it"},
        {"for (int64_t i = 0; i < n; i++) { double s = 0; for (int64_t j = 0; j < m; j++) s += b[i "
         "* m + j]; a[i * m] = s; }",
         "accumulate(s)", "'s' is double and 'a' holds real"},
        {"for (int64_t i = 0; i < n; i++) { real s = 0; for (int64_t j = 0; j < m; j++) s += b[i * "
         "m + j]; a[i * m] = s / 2; }",
         "accumulate(s)", "'s' is not stored as it is"},
        {sum, "expand(s,i)", "may have more than 4096 rounds: strip it first"},
        {sum, "strip(i:8);expand(s,i);distribute(i:1)", NULL},
        {sum, "expand(s,j)", "'s' is not declared in the body of loop 'j'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m] += b[i * m + "
         "j];",
         "promote(a,j)", NULL},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 1; j < m; j++) a[i * m] += b[i * m + "
         "j];",
         "promote(a,j)", "loop 'j' may not run"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m + j] += 1;",
         "promote(a,j)", "is not the same in every round"},
        {"for (int64_t i = 1; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m] += a[i * m - "
         "m];",
         "promote(a,j)", "does not use one element of 'a' only"},
        {"for (int64_t i = 0; i < n; i++) { if (m > 4) a[i * m] = 1; else a[i * m] = 2; }",
         "unswitch(i)", NULL},
        {"for (int64_t i = 0; i < n; i++) { if (i > 4) a[i * m] = 1; }", "unswitch(i)",
         "no condition in the body of loop 'i' is the same in every round"},
        {"for (int64_t i = n - 1; i >= 0; i--) { if (i > 4) a[i * m] = 1; }", "peel(i:1)",
         "counts downward"},
    };
    (void)state;
    check_all(&plain, cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nest_apply__affine_dependences__decide_exactly),
        cmocka_unit_test(nest_apply__variables__are_private_where_they_are_declared),
        cmocka_unit_test(nest_apply__nests_that_were_got_wrong__are_refused),
        cmocka_unit_test(nest_apply__sums_of_reals__ask_the_task),
        cmocka_unit_test(nest_apply__where_values_live__is_checked),
        cmocka_unit_test(nest_apply__shape_of_the_nest__is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

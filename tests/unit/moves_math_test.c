/* The functions of vector code, as gcc makes them: digits, and what they give at the ends. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const struct task plain = {.name = "f",
                                  .entry = "f",
                                  .dtype = DTYPE_F32,
                                  .accumulate = DTYPE_F32,
                                  .precision = PRECISION_NORMAL,
                                  .allow_reassociate = true,
                                  .args = {{.name = "x", .rank = 1, .shape_text = {"n"}},
                                           {.name = "y", .rank = 1, .shape_text = {"n"}}},
                                  .arg_count = 2};

/* y[i] = FUNCTION(x[i]) in vectors of 16 bytes, for any machine. */
static const char *vectors_of(struct arena *arena, const char *function)
{
    static const struct nest_target target = {.vector_bytes = 16, .family = "gcc"};
    CLEANUP(buf_free) struct buf text = {0};
    struct nest *nest = NULL;
    struct nest *out = NULL;
    const char *why = NULL;
    const char *source = arena_printf(arena,
                                      "void f(const real *x, real *y, int64_t n)\n{\n"
                                      "    for (int64_t i = 0; i < n; i++)\n"
                                      "        y[i] = %s;\n}\n",
                                      function);
    if (!nest_read(&plain, source, arena, &nest, &why) ||
        !nest_apply(nest, "vectorize(i:4)", &target, arena, &out, &why))
        fail_msg("'%s' was refused: %s", function, why);
    nest_print(out, &text);
    return arena_strdup(arena, buf_text(&text));
}

/* Compares with the function in double over [from, to] and prints what is more than `ulps` off;
 * then the special values, in pairs of what is given and what must come. */
static const char *check_of(struct arena *arena, const char *exact, const char *range, int ulps,
                            const char *special)
{
    return arena_printf(
        arena,
        "static const float special[][2] = {%s};\n"
        "int main(void)\n{\n"
        "    enum { ULPS = %d, COUNT = 4 };\n"
        "    const double range[] = {%s};\n"
        "    for (double d = range[0]; d <= range[1]; d += 0.000213) {\n"
        "        float x[COUNT], y[COUNT];\n"
        "        for (int i = 0; i < COUNT; i++)\n"
        "            x[i] = (float)(d + i * 0.00005);\n"
        "        f(x, y, COUNT);\n"
        "        for (int i = 0; i < COUNT; i++) {\n"
        "            int e;\n"
        "            const double t = x[i], want = %s;\n"
        "            (void)frexp(want, &e);\n"
        "            if (!(fabs(y[i] - want) <= ULPS * ldexp(1, e - 24)))\n"
        "                return printf(\"%%.9g gives %%.9g, not %%.9g\\n\", t, y[i], want), 1;\n"
        "        }\n"
        "    }\n"
        "    for (int s = 0; s < (int)(sizeof special / sizeof *special); s++) {\n"
        "        float x[COUNT], y[COUNT];\n"
        "        for (int i = 0; i < COUNT; i++)\n"
        "            x[i] = special[s][0];\n"
        "        f(x, y, COUNT);\n"
        "        if (memcmp(&y[1], &special[s][1], 4) && !(isnan(y[1]) && isnan(special[s][1])))\n"
        "            return printf(\"%%.9g gives %%.9g, not %%.9g\\n\", x[1], y[1], "
        "special[s][1]), 1;\n"
        "    }\n"
        "    return 0;\n}\n",
        special, ulps, range, exact);
}

static void must_agree(const char *function, const char *exact, const char *range, int ulps,
                       const char *special, const char *flags)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char folder[] = "/tmp/kope-math-XXXXXX";
    assert_non_null(mkdtemp(folder));
    FILE *out = fopen(arena_printf(&arena, "%s/t.c", folder), "w");
    assert_non_null(out);
    assert_true(fprintf(out,
                        "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
                        "#include <string.h>\n#define real float\n%s\n%s",
                        vectors_of(&arena, function),
                        check_of(&arena, exact, range, ulps, special)) > 0);
    assert_int_equal(fclose(out), 0);
    const int end = system(arena_printf(
        &arena, "cd %s && gcc -std=gnu17 -O2 -w -Wno-psabi %s t.c -o t -lm && ./t", folder, flags));
    assert_int_equal(system(arena_printf(&arena, "rm -rf %s", folder)), 0);
    assert_int_equal(end, 0);
}

static const char exp_special[] =
    "{0, 1}, {-0.0f, 1}, {NAN, NAN}, {INFINITY, INFINITY}, {-INFINITY, 0}, {88.73f, INFINITY}, "
    "{1e7f, INFINITY}, {3e38f, INFINITY}, {-104, 0}, {-8721891.6f, 0}, {-1e30f, 0}";

static void exp__all_normal_results__two_ulp_and_the_ends(void **state)
{
    (void)state;
    must_agree("exp(x[i])", "exp(t)", "-86.9, 88.72", 2, exp_special, "");
}

/* A recipe may let the compiler take sums apart: a few digits go, nothing else. */
static void exp__a_compiler_that_reassociates__keeps_the_ends(void **state)
{
    (void)state;
    must_agree("exp(x[i])", "exp(t)", "-60, 60", 64, exp_special,
               "-fassociative-math -fno-signed-zeros -fno-trapping-math");
}

static void tanh__small_and_large__two_ulp_and_the_ends(void **state)
{
    (void)state;
    must_agree("tanh(x[i])", "tanh(t)", "-10, 10", 2,
               "{NAN, NAN}, {INFINITY, 1}, {-INFINITY, -1}, {100, 1}, {-100, -1}, {0, 0}", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp__all_normal_results__two_ulp_and_the_ends),
        cmocka_unit_test(exp__a_compiler_that_reassociates__keeps_the_ends),
        cmocka_unit_test(tanh__small_and_large__two_ulp_and_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

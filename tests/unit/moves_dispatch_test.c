/* One source of two: names that collide, helpers that both have, and what is no name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "moves/dispatch.h"
#include "moves_fixture.h"

#include <string.h>

static struct task task_of_scale(void)
{
    struct task task = fixture_task("scale", "");
    task.args[0] = (struct task_arg){.name = "x", .is_real = true, .role = ARG_IN};
    task.args[1] = (struct task_arg){.name = "y", .is_real = true, .role = ARG_OUT};
    task.arg_count = 2;
    task.axes[0] = (struct task_axis){.name = "n"};
    task.axis_count = 1;
    return task;
}

static bool merge(const char *small, const char *large, struct arena *arena, const char **out,
                  const char **why)
{
    static struct task task;
    task = task_of_scale();
    const struct dispatch_parts parts = {.task = &task,
                                         .condition = "n <= 64",
                                         .small = {small, "unroll=4"},
                                         .large = {large, "a comment */\nin words"}};
    return dispatch_source(&parts, arena, out, why);
}

static const char *merged(const char *small, const char *large, struct arena *arena)
{
    const char *text = NULL;
    const char *why = "";
    if (!merge(small, large, arena, &text, &why))
        fail_msg("%s", why);
    return text;
}

static void assert_has(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in:\n%s", words, text);
}

static void assert_lacks(const char *text, const char *words)
{
    if (strstr(text, words))
        fail_msg("'%s' is in:\n%s", words, text);
}

static int occurrences(const char *text, const char *words)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        count++;
    return count;
}

#define BODY(EXPRESSION)                                                                           \
    "void scale(const real *x, real *y, int64_t n)\n{\n"                                           \
    "    for (int64_t i = 0; i < n; i++)\n        y[i] = " EXPRESSION ";\n}\n"

static void dispatch_source__two_plain_texts__as_a_person_would_write_it(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    assert_string_equal(merged("#include <stdint.h>\n\n" BODY("2 * x[i]"),
                               "#include <stdint.h>\n\n/* By adding. */\n" BODY("x[i] + x[i]"),
                               &arena),
                        "#include <stdint.h>\n"
                        "\n"
                        "/* For n <= 64: unroll=4 */\n"
                        "static __attribute__((noinline)) void scale_small(const real *x, real *y, "
                        "int64_t n)\n"
                        "{\n"
                        "    for (int64_t i = 0; i < n; i++)\n"
                        "        y[i] = 2 * x[i];\n"
                        "}\n"
                        "\n"
                        "/* By adding. */\n"
                        "/* For larger sizes: a comment * / in words */\n"
                        "static __attribute__((noinline)) void scale_large(const real *x, real *y, "
                        "int64_t n)\n"
                        "{\n"
                        "    for (int64_t i = 0; i < n; i++)\n"
                        "        y[i] = x[i] + x[i];\n"
                        "}\n"
                        "\n"
                        "void scale(const real *x, real *y, int64_t n)\n"
                        "{\n"
                        "    if (n <= 64)\n"
                        "        scale_small(x, y, n);\n"
                        "    else\n"
                        "        scale_large(x, y, n);\n"
                        "}\n");
}

static void dispatch_source__names_collide__each_keeps_its_own(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    const char *text =
        merged("#define LANES 4\n"
               "typedef real block __attribute__((vector_size(16)));\n"
               "enum { DEPTH = 2, WIDTH };\n"
               "struct pair { real a, b; };\n"
               "static const real table[2] = {DEPTH, 1}, other = 3;\n"
               "static real twice(real v) { struct pair p = {.a = v}; return p.a * LANES; }\n"
               "typedef void (*step)(int LANES_of);\n" BODY("twice(x[i]) * table[WIDTH] * other"),
               "#define LANES 8\n"
               "typedef real block __attribute__((vector_size(32)));\n"
               "enum { DEPTH = 3, WIDTH };\n"
               "struct pair { real b, a; };\n"
               "static const real table[2] = {DEPTH, 2}, other = 4;\n"
               "static real twice(real v) { struct pair p = {.a = v}; return p.a + LANES; }\n"
               "typedef int (*step)(int);\n" BODY("twice(x[i]) + table[WIDTH] + other"),
               &arena);
    assert_has(text, "#define LANES_small 4\n");
    assert_has(text, "#define LANES_large 8\n");
    assert_has(text, "typedef real block_small __attribute__");
    assert_has(text, "enum { DEPTH_large = 3, WIDTH_large };");
    assert_has(text, "struct pair_small { real a, b; };");
    assert_has(text, "table_large[2] = {DEPTH_large, 2}, other_large = 4;");
    assert_has(text, "static real twice_small(real v) { struct pair_small p = {.a = v}; "
                     "return p.a * LANES_small; }");
    assert_has(text, "typedef void (*step_small)(int LANES_of);");
    assert_has(text, "y[i] = twice_large(x[i]) + table_large[WIDTH_large] + other_large;");
}

static void dispatch_source__same_helpers__stand_once_unless_what_they_use_differs(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const char helpers[] = "#include <math.h>\n"
                                  "#define TWO 2\n"
                                  "static real alike(real v) { return TWO * v; }\n"
                                  "static real uses(real v) { return alike(v) * LANES; }\n"
                                  "static real above(real v) { return uses(v); }\n";
    (void)state;
    const char *small =
        arena_printf(&arena, "#define LANES 4\n%s%s", helpers, BODY("above(x[i]) + TWO"));
    const char *large =
        arena_printf(&arena, "#define LANES 8\n%s%s", helpers, BODY("above(x[i]) - TWO"));
    const char *text = merged(small, large, &arena);
    assert_int_equal(occurrences(text, "#include <math.h>"), 1);
    assert_int_equal(occurrences(text, "#define TWO 2"), 1);
    assert_int_equal(occurrences(text, "static real alike(real v)"), 1);
    assert_has(text, "uses_small(real v) { return alike(v) * LANES_small; }");
    assert_has(text, "above_large(real v) { return uses_large(v); }");
}

static void dispatch_source__a_name_in_strings_and_comments__is_left_alone(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    const char *text =
        merged("/* twice is here */\n"
               "static const char say[] = \"twice \\\" twice\";\n"
               "#define TEXT \"twice\" /* twice */\n"
               "static real twice(real v) { return 2 * v; } // twice\n" //
               BODY("twice(x[i])"),
               "static real twice(real v) { return v + v; }\n" BODY("twice(x[i])"), &arena);
    assert_has(text, "/* twice is here */");
    assert_has(text, "say[] = \"twice \\\" twice\";");
    assert_has(text, "#define TEXT \"twice\" /* twice */");
    assert_has(text, "} // twice\n");
    assert_has(text, "static real twice_small(real v)");
}

/* The one's macro would change the other's variable; its function would not be one any more. */
static void dispatch_source__a_name_of_one_is_a_local_of_the_other__renamed(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    const char *text = merged("#define factor 2\n" BODY("factor * x[i]"),
                              "void scale(const real *x, real *y, int64_t n)\n{\n"
                              "    const real factor = 2;\n"
                              "    for (int64_t i = 0; i < n; i++)\n"
                              "        y[i] = factor * x[i];\n}\n",
                              &arena);
    assert_has(text, "#define factor_small 2\n");
    assert_has(text, "const real factor = 2;");
    /* And one that the new entry point has: */
    const char *other = merged("#define n_is 3\n#define y 1\n"
                               "void scale(const real *a, real *b, int64_t count)\n{\n"
                               "    for (int64_t i = 0; i < count; i++)\n"
                               "        b[i] = (y + 1) * a[i];\n}\n",
                               BODY("2 * x[i]"), &arena);
    assert_has(other, "#define y_small 1\n");
    assert_has(other, "b[i] = (y_small + 1) * a[i];");
    assert_has(other, "void scale(const real *x, real *y, int64_t n)\n{\n    if (n <= 64)");
}

static void dispatch_source__conditions__each_keeps_all_of_its_own(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const char helpers[] = "#if defined __AVX2__\n"
                                  "static real twice(real v) { return 2 * v; }\n"
                                  "#else\n"
                                  "static real twice(real v) { return v + v; }\n"
                                  "#endif\n";
    (void)state;
    const char *text = merged(arena_printf(&arena, "%s%s", helpers, BODY("twice(x[i])")),
                              arena_printf(&arena, "%s%s", helpers, BODY("+twice(x[i])")), &arena);
    assert_int_equal(occurrences(text, "#if defined __AVX2__"), 2);
    assert_int_equal(occurrences(text, "static real twice_small(real v)"), 2);
    assert_int_equal(occurrences(text, "static real twice_large(real v)"), 2);
}

static void dispatch_source__a_declaration_in_front__is_static_too(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    const char *text = merged("void scale(const real *x, real *y, int64_t n);\n" BODY("2 * x[i]"),
                              BODY("x[i] + x[i]"), &arena);
    assert_int_equal(occurrences(text, "static __attribute__((noinline)) void scale_small("), 2);
    assert_int_equal(occurrences(text, "\nvoid scale("), 1);
    assert_int_equal(occurrences(text, "/* For n <= 64"), 1);
}

static void assert_refused(const char *small, const char *large, const char *words)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = NULL;
    const char *why = "";
    if (merge(small, large, &arena, &text, &why))
        fail_msg("not refused:\n%s", text);
    assert_has(why, words);
}

static void dispatch_source__what_does_not_go_into_one_text__is_refused_in_words(void **state)
{
    (void)state;
    assert_refused(BODY("2 * x[i]"), "#pragma GCC optimize(\"O1\")\n" BODY("2 * x[i]"),
                   "a pragma outside of functions");
    assert_refused("#define CALL(f) my_##f\n"
                   "static real my_twice(real v) { return 2 * v; }\n"
                   "static real twice(real v) { return 2 * v; }\n" BODY("CALL(twice)(x[i])"),
                   "static real twice(real v) { return v + v; }\n" BODY("twice(x[i])"),
                   "a macro pastes");
    assert_refused("static void scale_large(void) {}\n" BODY("2 * x[i]"), BODY("2 * x[i]"),
                   "names that the two would be called by");
    assert_refused("void other(void) {}\n", BODY("2 * x[i]"), "entry point is not found");
    assert_refused(BODY("2 * (x[i]"), BODY("2 * x[i]"), "brackets");
}

/* It pastes nothing that is renamed. */
static void dispatch_source__a_macro_that_pastes_other_names__goes(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    const char *text =
        merged("#define MATH(name) __builtin_##name##f\n" BODY("MATH(sqrt)(x[i])"),
               "#define MATH(name) __builtin_##name##l\n" BODY("MATH(sqrt)(x[i])"), &arena);
    assert_has(text, "#define MATH_small(name) __builtin_##name##f\n");
    assert_has(text, "MATH_large(sqrt)(x[i])");
    assert_lacks(text, "sqrt_");
}

static void dispatch_source__more_than_a_person_would_read__is_refused(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = "";
    (void)state;
    for (int i = 0; i < 300; i++)
        text = arena_printf(&arena, "%sint a%d;\n", text, i);
    assert_refused(arena_printf(&arena, "%s%s", text, BODY("2 * x[i]")), BODY("2 * x[i]"),
                   "too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatch_source__two_plain_texts__as_a_person_would_write_it),
        cmocka_unit_test(dispatch_source__names_collide__each_keeps_its_own),
        cmocka_unit_test(dispatch_source__same_helpers__stand_once_unless_what_they_use_differs),
        cmocka_unit_test(dispatch_source__a_name_in_strings_and_comments__is_left_alone),
        cmocka_unit_test(dispatch_source__a_name_of_one_is_a_local_of_the_other__renamed),
        cmocka_unit_test(dispatch_source__conditions__each_keeps_all_of_its_own),
        cmocka_unit_test(dispatch_source__a_declaration_in_front__is_static_too),
        cmocka_unit_test(dispatch_source__what_does_not_go_into_one_text__is_refused_in_words),
        cmocka_unit_test(dispatch_source__a_macro_that_pastes_other_names__goes),
        cmocka_unit_test(dispatch_source__more_than_a_person_would_read__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

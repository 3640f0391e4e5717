/* Steps on loop nests: their text, the registry, and what each move makes of a nest. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "moves/moves.h"
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
                                  .args = {{.name = "a", .rank = 2, .shape_text = {"n", "m"}},
                                           {.name = "b", .rank = 1, .shape_text = {"n"}}},
                                  .arg_count = 2};

#define HEAD "void f(real *a, const real *b, int64_t n, int64_t m)\n"

static struct nest *must_read(struct arena *arena, const char *body)
{
    struct nest *nest = NULL;
    const char *why = NULL;
    const char *source = arena_printf(arena, HEAD "{\n%s\n}\n", body);
    if (!nest_read(&plain, source, arena, &nest, &why))
        fail_msg("'%s' was refused: %s", body, why);
    return nest;
}

static char *print(struct arena *arena, const struct nest *nest)
{
    CLEANUP(buf_free) struct buf text = {0};
    nest_print(nest, &text);
    return arena_strdup(arena, buf_text(&text));
}

/* What the steps make of the body, without head and braces; or the refusal. */
static const char *after(struct arena *arena, const char *body, const char *steps)
{
    struct nest *out = NULL;
    struct nest *again = NULL;
    const char *refusal = NULL;
    const char *why = NULL;
    struct nest *nest = must_read(arena, body);
    const char *before = print(arena, nest);
    const bool ok = nest_apply(nest, steps, NULL, arena, &out, &refusal);
    assert_string_equal(print(arena, nest), before); /* the nest itself is never changed */
    if (!ok)
        return refusal;
    const char *text = print(arena, out);
    assert_true(nest_read(&plain, text, arena, &again, &why));
    assert_int_equal(again->opaque_count, nest->opaque_count);
    assert_string_equal(print(arena, again), text);
    char *body_text = arena_strdup(arena, strchr(text, '{') + 2);
    *strrchr(body_text, '}') = '\0';
    return body_text;
}

static void nest_step_parse__not_of_the_form__says_so(void **state)
{
    static const char *const bad[] = {"",
                                      "tile",
                                      "tile(",
                                      "tile)",
                                      "(i)",
                                      "t(i",
                                      "t(i,)",
                                      "t(,i)",
                                      "t(i:)",
                                      "t(i;j)",
                                      "t(i)(j)",
                                      "t(i j)",
                                      "t(i:4:5)",
                                      "t(\"i\")",
                                      "t(i))",
                                      "t(:4)",
                                      "t(a,b,c,d,e,f,g,h,i)"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct nest_step step;
        const char *refusal = NULL;
        if (nest_step_parse(bad[i], &arena, &step, &refusal))
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(strstr(refusal, "is not of the form"));
    }
}

static void nest_step_parse__words_and_numbers__are_read(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_step step;
    const char *refusal = NULL;
    (void)state;
    assert_true(nest_step_parse("tile(i:32,b:p,4,x-y)", &arena, &step, &refusal));
    assert_string_equal(step.name, "tile");
    assert_int_equal(step.arg_count, 4);
    assert_string_equal(step.args[0].name, "i");
    assert_int_equal(step.args[0].number, 32);
    assert_string_equal(step.args[1].value, "p");
    assert_int_equal(step.args[1].number, 0);
    assert_int_equal(step.args[2].number, 4);
    assert_string_equal(step.args[3].name, "x-y");
    assert_true(nest_step_parse("restrict()", &arena, &step, &refusal));
    assert_int_equal(step.arg_count, 0);
}

static void nest_apply__sequence__names_the_step_that_is_refused(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const char body[] = "for (int64_t i = 0; i < n; i++) a[i] = b[i];";
    (void)state;
    assert_string_equal(after(&arena, body, "strip(i:4);fly(i)"),
                        "fly(i): there is no move 'fly' on loop nests");
    assert_string_equal(after(&arena, body, "strip(k:4)"), "there is no loop 'k'");
    assert_string_equal(after(&arena, body, "strip(i)"),
                        "'strip(i)' needs a number from 2 to 65536");
    assert_string_equal(after(&arena, body, "strip(i:4,i:4)"),
                        "'strip(i:4,i:4)' is not of the form strip(LOOP:SIZE); SIZE 2 to 65536");
}

/* A name that has to change, and text that would not follow. */
static void nest_apply__kept_text_names_what_is_renamed__is_refused(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const char loops[] =
        "for (int64_t j = 0; j < m; j++) a[j] = b[j];\n"
        "for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) { while (a[%s] > 1) "
        "a[i] = 0; }";
    (void)state;
    assert_string_equal(after(&arena, arena_printf(&arena, loops, "j"), "unroll(j:2)"),
                        "there are several 'j', and what is kept as text names the one of line 4");
    assert_non_null(strstr(after(&arena, arena_printf(&arena, loops, "i"), "unroll(j:2)"), "j2++"));
    assert_string_equal(after(&arena,
                              "{ real t = b[0]; a[0] = t; }\n"
                              "for (int64_t i = 0; i < n; i++) { real t = 0; while (t < b[i]) t++; "
                              "a[i] = t; }",
                              "strip(i:2)"),
                        "there are several 't', and what is kept as text names the one of line 4");
}

static void nest_apply__each_move__gives_this_text(void **state)
{
    static const struct {
        const char *body, *steps, *want;
    } cases[] = {
        {"for (int64_t i = 0; i < n; i++) a[i] = b[i];", "strip(i:32)",
         "    for (int64_t i_s = 0; i_s < n; i_s += 32) {\n"
         "        for (int64_t i = i_s; i < (i_s + 32 < n ? i_s + 32 : n); i++) {\n"
         "            a[i] = b[i];\n"
         "        }\n"
         "    }\n"},
        {"for (int64_t i = 0; i < 64; i++) a[i] = b[i];", "strip(i:32)",
         "    for (int64_t i_s = 0; i_s < 64; i_s += 32) {\n"
         "        for (int64_t i = i_s; i < i_s + 32; i++) {\n"
         "            a[i] = b[i];\n"
         "        }\n"
         "    }\n"},
        {"for (int8_t i = 0; i < n; i++) a[i] = b[i];", "strip(i:100)",
         "    for (int64_t i_s = 0; i_s < n; i_s += 100) {\n"
         "        for (int8_t i = i_s; i < (i_s + 100 < n ? i_s + 100 : n); i++) {\n"
         "            a[i] = b[i];\n"
         "        }\n"
         "    }\n"},
        {"for (int64_t i = 1; i <= n; i++) { const real t = b[i]; a[i - 1] = t * i; }",
         "unroll(i:2)",
         "    const int64_t i_end = n / 2 * 2 + 1;\n"
         "    for (int64_t i = 1; i < i_end; i += 2) {\n"
         "        const real t = b[i];\n"
         "        a[i - 1] = t * i;\n"
         "        const real t3 = b[i + 1];\n"
         "        a[i] = t3 * (i + 1);\n"
         "    }\n"
         "    for (int64_t i2 = i_end; i2 <= n; i2++) {\n"
         "        const real t2 = b[i2];\n"
         "        a[i2 - 1] = t2 * i2;\n"
         "    }\n"},
        {"real s = 0; for (int64_t i = 0; i < n; i++) s += b[i]; a[0] = s;", "streams(i:3)",
         "    real s = 0;\n"
         "    const int64_t i_part = n / 48 * 16;\n"
         "    for (int64_t i = 0; i < i_part; i++) {\n"
         "        s += b[i] + b[i + i_part] + b[i + i_part * 2];\n"
         "    }\n"
         "    for (int64_t i2 = i_part * 3; i2 < n; i2++) {\n"
         "        s += b[i2];\n"
         "    }\n"
         "    a[0] = s;\n"},
        /* adding two elements first would be adding them in another type */
        {"double s = 0; for (int i = 0; i < n; i++) s += b[i] * 2; a[0] = s;", "streams(i:2)",
         "    double s = 0;\n"
         "    const int i_part = n / 32 * 16;\n"
         "    for (int i = 0; i < i_part; i++) {\n"
         "        s += b[i] * 2;\n"
         "        s += b[i + i_part] * 2;\n"
         "    }\n"
         "    for (int i2 = i_part * 2; i2 < n; i2++) {\n"
         "        s += b[i2] * 2;\n"
         "    }\n"
         "    a[0] = s;\n"},
        {"for (int64_t i = 2; i <= n; i++) { const real t = b[i]; a[i] = t; }", "streams(i:2)",
         "    const int64_t i_part = (n - 1) / 32 * 16;\n"
         "    for (int64_t i = 2; i < i_part + 2; i++) {\n"
         "        const real t = b[i];\n"
         "        a[i] = t;\n"
         "        const real t3 = b[i + i_part];\n"
         "        a[i + i_part] = t3;\n"
         "    }\n"
         "    for (int64_t i2 = i_part * 2 + 2; i2 <= n; i2++) {\n"
         "        const real t2 = b[i2];\n"
         "        a[i2] = t2;\n"
         "    }\n"},
        {"for (int64_t i = 0; i < 7; i++) a[i] += 0 * b[i];", "unroll(i:3)",
         "    for (int64_t i = 0; i < 6; i += 3) {\n"
         "        a[i] += 0 * b[i];\n"
         "        a[i + 1] += 0 * b[i + 1];\n"
         "        a[i + 2] += 0 * b[i + 2];\n"
         "    }\n"
         "    for (int64_t i2 = 6; i2 < 7; i2++) {\n"
         "        a[i2] += 0 * b[i2];\n"
         "    }\n"},
        {"for (int64_t i = 0; i < n; i++) { for (int64_t j = 0; j < m; j++) a[i * m + j] = 0; }\n"
         "for (int64_t j = 0; j < m; j++) a[j] = 1;",
         "strip(j2:8)",
         "    for (int64_t i = 0; i < n; i++) {\n"
         "        for (int64_t j = 0; j < m; j++) {\n"
         "            a[i * m + j] = 0;\n"
         "        }\n"
         "    }\n"
         "    for (int64_t j2_s = 0; j2_s < m; j2_s += 8) {\n"
         "        for (int64_t j2 = j2_s; j2 < (j2_s + 8 < m ? j2_s + 8 : m); j2++) {\n"
         "            a[j2] = 1;\n"
         "        }\n"
         "    }\n"},
        {"for (int64_t i = 0; i < n; i++) { real s = 0; for (int64_t j = 0; j < m; j++) s += b[j]; "
         "a[i] = s; }",
         "strip(i:8);expand(s,i);distribute(i:1);distribute(i2:1);interchange(i2,j)",
         "    for (int64_t i_s = 0; i_s < n; i_s += 8) {\n"
         "        real s_x[8];\n"
         "        for (int64_t i = i_s; i < (i_s + 8 < n ? i_s + 8 : n); i++) {\n"
         "            s_x[i - i_s] = 0;\n"
         "        }\n"
         "        for (int64_t j = 0; j < m; j++) {\n"
         "            for (int64_t i2 = i_s; i2 < (i_s + 8 < n ? i_s + 8 : n); i2++) {\n"
         "                s_x[i2 - i_s] += b[j];\n"
         "            }\n"
         "        }\n"
         "        for (int64_t i22 = i_s; i22 < (i_s + 8 < n ? i_s + 8 : n); i22++) {\n"
         "            a[i22] = s_x[i22 - i_s];\n"
         "        }\n"
         "    }\n"},
        {"for (int64_t i = 0; i < n; i++) { const int64_t r = i - 1; if (r >= 0 && b[i] > 0) a[i] "
         "= "
         "b[r]; }",
         "peel(i:1)",
         "    for (int64_t i2 = 0; i2 < (1 < n ? 1 : n); i2++) {\n"
         "        const int64_t r2 = i2 - 1;\n"
         "    }\n"
         "    for (int64_t i = 1; i < n - 1; i++) {\n"
         "        const int64_t r = i - 1;\n"
         "        if (b[i] > 0) {\n"
         "            a[i] = b[r];\n"
         "        }\n"
         "    }\n"
         "    for (int64_t i3 = n - 1 > 1 ? n - 1 : 1; i3 < n; i3++) {\n"
         "        const int64_t r3 = i3 - 1;\n"
         "        if (b[i3] > 0) {\n"
         "            a[i3] = b[r3];\n"
         "        }\n"
         "    }\n"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < 4; j++) a[i] += b[j];",
         "promote(a,j)",
         "    for (int64_t i = 0; i < n; i++) {\n"
         "        real a_v = a[i];\n"
         "        for (int64_t j = 0; j < 4; j++) {\n"
         "            a_v += b[j];\n"
         "        }\n"
         "        a[i] = a_v;\n"
         "    }\n"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m + j] = b[2 * i * "
         "m + 2 * j + 1];",
         "coalesce(i,j)",
         "    for (int64_t ij = 0; ij < (0 < m ? n * m : 0); ij++) {\n"
         "        a[ij] = b[2 * ij + 1];\n"
         "    }\n"},
        /* Where the pointer is shows that it is another element in every round. */
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < 8; j++) { real *q = a + (i * 8 + "
         "j); q[0] = b[j]; }",
         "coalesce(i,j);reverse(ij)",
         "    for (int64_t ij = n * 8 - 1; ij >= 0; ij--) {\n"
         "        const int64_t j_at = ij % 8;\n"
         "        real *q = a + ij;\n"
         "        q[0] = b[j_at];\n"
         "    }\n"},
        {"for (int64_t i = 1; i < n; i++) for (int64_t j = 0; j <= 6; j++) a[i * 7 + j] = b[i];",
         "coalesce(i,j)",
         "    for (int64_t ij = 0; ij < (n - 1) * 7; ij++) {\n"
         "        const int64_t i_at = ij / 7 + 1;\n"
         "        a[ij + 7] = b[i_at];\n"
         "    }\n"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 2; j < m; j++) if (j > i) a[i * m + j] "
         "= b[j];",
         "coalesce(i,j)",
         "    for (int64_t ij = 0; ij < (2 < m ? n * (m - 2) : 0); ij++) {\n"
         "        const int64_t i_at = ij / (m - 2);\n"
         "        const int64_t j_at = ij % (m - 2) + 2;\n"
         "        if (j_at > i_at) {\n"
         "            a[i_at * m + j_at] = b[j_at];\n"
         "        }\n"
         "    }\n"},
        {"for (int64_t i = 1; i < n; i++) a[i] = b[i];\nfor (int64_t i = 1; i < n; i++) a[i] += "
         "a[i + 2];",
         "fuse(i,i2:2)",
         "    for (int64_t i3 = 1; i3 < (3 < n ? 3 : n); i3++) {\n"
         "        a[i3] = b[i3];\n"
         "    }\n"
         "    for (int64_t i = 3; i < n; i++) {\n"
         "        a[i] = b[i];\n"
         "        a[i - 2] += a[i];\n"
         "    }\n"
         "    for (int64_t i22 = n - 2 > 1 ? n - 2 : 1; i22 < n; i22++) {\n"
         "        a[i22] += a[i22 + 2];\n"
         "    }\n"},
        {"for (int64_t i = 0; i < n; i++) { if (m > 4) a[i] = 1; else a[i] = b[i]; }",
         "unswitch(i)",
         "    if (m > 4) {\n"
         "        for (int64_t i = 0; i < n; i++) {\n"
         "            a[i] = 1;\n"
         "        }\n"
         "    } else {\n"
         "        for (int64_t i2 = 0; i2 < n; i2++) {\n"
         "            a[i2] = b[i2];\n"
         "        }\n"
         "    }\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        assert_string_equal(after(&arena, cases[i].body, cases[i].steps), cases[i].want);
    }
}

static void coalesce__what_is_no_plain_pair__is_refused(void **state)
{
    static const struct {
        const char *body, *steps, *why;
    } cases[] = {
        {"for (int64_t i = 0; i < n; i++) { a[i] = 0; for (int64_t j = 0; j < m; j++) a[i] += "
         "b[j]; "
         "}",
         "coalesce(i,j)", "loop 'j' is not all there is in loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < i; j++) a[i] += b[j];",
         "coalesce(i,j)", "the bounds of loop 'j' depend on loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j += 2) a[i] += b[j];",
         "coalesce(i,j)", "loop 'j' does not count by 1 between fixed bounds"},
        {"for (int i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i] += b[j];",
         "coalesce(i,j)", "loop 'i' does not count in signed 64 bits"},
        {"for (int64_t i = n; i > 0; i--) for (int64_t j = 0; j < m; j++) a[i] += b[j];",
         "coalesce(i,j)", "loop 'i' counts downward"},
        {"const uint64_t q = n; for (int64_t i = 0; i < q; i++) for (int64_t j = 0; j < m; j++) "
         "a[i] += b[j];",
         "coalesce(i,j)", "loop 'i' does not count in signed 64 bits"},
        {"const unsigned long q = m; for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < q; "
         "j++) a[i] += b[j];",
         "coalesce(i,j)", "loop 'j' does not count in signed 64 bits"},
        {"for (uint64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i] += b[j];",
         "coalesce(i,j)", "loop 'i' does not count in signed 64 bits"},
        {"const uint64_t q = n; for (int64_t i = 5; i < q; i++) for (int64_t j = 0; j < m; j++) "
         "a[i] += b[j];",
         "coalesce(i,j)",
         "the counter or a bound of loop 'i' is unsigned, and it does not begin at 0"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) { while (a[j] > 1) a[j] "
         "= "
         "0; }",
         "coalesce(i,j)", "the loops hold what is not understood"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        assert_string_equal(after(&arena, cases[i].body, cases[i].steps), cases[i].why);
    }
}

/* Where a bound has no sign, one less than where the loop begins is a large number of rounds. */
static void nest_apply__bound_is_unsigned__differences_are_refused(void **state)
{
    static const struct {
        const char *body, *steps, *why;
    } cases[] = {
        {"const uint32_t q = (uint32_t)n; for (int64_t i = 5; i < q; i++) a[i] = b[i];",
         "unroll(i:5)",
         "the counter or a bound of loop 'i' is unsigned, and it does not begin at 0"},
        {"for (int64_t i = 1; i < (uint32_t)n; i++) a[i] = b[i];", "strip(i:8)",
         "the counter or a bound of loop 'i' is unsigned, and it does not begin at 0"},
        {"const uint32_t q = (uint32_t)n; for (int64_t i = 0; i < q; i++) a[i] = b[i];",
         "peel(i:1)", "the counter or a bound of loop 'i' is unsigned, or its step not 1"},
        {"for (int64_t i = 0; i < n - 2u; i++) a[i] = b[i];", "streams(i:2)",
         "loop 'i' does not count up by 1 with a sign"},
        {"const size_t q = (size_t)n; for (int64_t i = 0; i < q; i++) a[i] = b[i];", "reverse(i)",
         "the counter or a bound of loop 'i' is unsigned"},
        {"for (int64_t i = 0; i < n - 2u; i++) a[i] = b[i];", "reverse(i)",
         "the counter or a bound of loop 'i' is unsigned"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        assert_string_equal(after(&arena, cases[i].body, cases[i].steps), cases[i].why);
    }
}

/* A pointer that is declared in front of the loop is another name for what the loop uses. */
static void nest_apply__an_element_has_another_name__is_refused(void **state)
{
    static const struct {
        const char *body, *steps, *why;
    } cases[] = {
        {"real *q = a;\nfor (int64_t j = 0; j < 4; j++) { a[0] += b[j]; q[0] *= 2; }",
         "promote(a,j)", "loop 'j' does not use one element of 'a' only"},
        {"real *q = a;\nreal *r = q + n;\nfor (int64_t j = 0; j < 4; j++) a[0] += r[j];",
         "promote(a,j)", "loop 'j' does not use one element of 'a' only"},
        {"for (int64_t i = 0; i < n; i++) { real *q = a + i; for (int64_t j = 0; j < 4; j++) { "
         "q[0] += 1; a[i] *= 2; } }",
         "promote(a,j)", "loop 'j' does not use one element of 'a' only"},
        {"for (int64_t i = 0; i < 8; i++) { real t[2]; real *q = &t[1]; q[0] = b[i]; a[i] = t[1]; "
         "}",
         "expand(t,i)", "'t' is used as a whole"},
        {"real *q = a;\nfor (int64_t j = 0; j < 4; j++) a[0] += q[0] + b[j];", "reverse(j)",
         "dependence on a carried by j, distance (+)"},
        {"int64_t s = 1;\nfor (int64_t j = 0; j < 4; j++) s = s << j ? s : j;\na[0] = s;",
         "reverse(j)", "dependence on s carried by j, distance (+)"},
        {"real *q = a;\nfor (int64_t j = 0; j < 4; j++) a[0] = q[0] > b[j] ? q[0] : a[0];",
         "reverse(j)", "dependence on a carried by j, distance (+)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        assert_string_equal(after(&arena, cases[i].body, cases[i].steps), cases[i].why);
    }
}

static void nest_moves__every_row__is_a_manual(void **state)
{
    size_t count = 0;
    const struct nest_move *const *moves = nest_moves(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct nest_move *move = moves[i];
        assert_ptr_equal(nest_move_find(move->name), move);
        assert_true(move->group && move->intent && move->parameters && move->precondition &&
                    move->effect && move->breaks && move->apply);
        assert_true(str_starts_with(move->parameters, move->name));
    }
}

/* The recipe's text holds the steps, and the source is made from them. */
static void recipe_parse__steps_on_the_nest__are_the_key_and_the_source(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const struct moves_compiler compilers[] = {{"gcc-12", "gcc", 12, false, false}};
    struct task task = plain;
    task.reference = HEAD "{\n    for (int64_t i = 0; i < n; i++)\n        a[i] = b[i];\n}\n";
    const struct moves_env env = {
        .task = &task, .compilers = compilers, .compiler_count = 1, .default_compiler = "gcc-12"};
    const struct recipe *recipe = NULL;
    struct candidate candidate;
    struct err err = {0};
    (void)state;
    const char *text = "compiler=gcc-12 nest=strip(i:32);restrict() opt=3 march=native";
    assert_true(recipe_parse(&env, text, &arena, &recipe, &err));
    assert_string_equal(recipe_text(recipe, &arena), text);
    assert_true(recipe_candidate(&env, recipe, &arena, &candidate, &err));
    assert_non_null(strstr(candidate.source, "i_s += 32"));
    assert_non_null(strstr(candidate.source, "real *restrict a, const real *restrict b"));
    /* of another task, where it does not apply */
    assert_false(recipe_parse(&env, "compiler=gcc-12 nest=strip(q:32)", &arena, &recipe, &err));
    assert_int_equal(err.kind, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "there is no loop 'q'"));
    assert_false(recipe_parse(&env, "compiler=gcc-12 nest=fly(i)", &arena, &recipe, &err));
    assert_false(recipe_parse(&env, "compiler=gcc-12 nest=strip(i", &arena, &recipe, &err));
    assert_false(recipe_parse(&env, "compiler=gcc-12 nest=", &arena, &recipe, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nest_step_parse__not_of_the_form__says_so),
        cmocka_unit_test(nest_step_parse__words_and_numbers__are_read),
        cmocka_unit_test(nest_apply__sequence__names_the_step_that_is_refused),
        cmocka_unit_test(nest_apply__kept_text_names_what_is_renamed__is_refused),
        cmocka_unit_test(nest_apply__each_move__gives_this_text),
        cmocka_unit_test(coalesce__what_is_no_plain_pair__is_refused),
        cmocka_unit_test(nest_apply__bound_is_unsigned__differences_are_refused),
        cmocka_unit_test(nest_apply__an_element_has_another_name__is_refused),
        cmocka_unit_test(nest_moves__every_row__is_a_manual),
        cmocka_unit_test(recipe_parse__steps_on_the_nest__are_the_key_and_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

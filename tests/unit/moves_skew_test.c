/* Time steps in strips: the text that comes out, what must be refused and for which dependence, and
 * what must not. */
#include "base/arena.h"
#include "base/buf.h"
#include "moves/nest/pattern.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct task plain = {
    .name = "f",
    .entry = "f",
    .dtype = DTYPE_F32,
    .precision = PRECISION_STRICT,
    .axes = {{.name = "n", .minimum = 1, .maximum = 4096},
             {.name = "m", .minimum = 1, .maximum = 4096}},
    .axis_count = 2,
    .args = {{.name = "a", .rank = 2, .shape_text = {"n", "m"}, .role = ARG_INOUT},
             {.name = "b", .rank = 2, .shape_text = {"n", "m"}, .role = ARG_INOUT},
             {.name = "x", .rank = 1, .shape_text = {"m"}, .role = ARG_INOUT},
             {.name = "y", .rank = 1, .shape_text = {"m"}, .role = ARG_INOUT}},
    .arg_count = 4};

#define HEAD "void f(real *a, real *b, real *x, real *y, int64_t steps, int64_t n, int64_t m)\n"
#define STEPS(body) "for (int64_t t = 0; t < steps; t++) { " body " }"
#define I(statement) "for (int64_t i = 2; i < m - 2; i++) { " statement " } "
#define IJ(statement)                                                                              \
    "for (int64_t i = 2; i < n - 2; i++) for (int64_t j = 2; j < m - 2; j++) { " statement " } "

static struct nest *must_read(struct arena *arena, const char *body)
{
    struct nest *nest = NULL;
    const char *why = NULL;
    if (!nest_read(&plain, arena_printf(arena, HEAD "{\n%s\n}\n", body), arena, &nest, &why))
        fail_msg("'%s' was not read: %s", body, why);
    return nest;
}

static char *print(struct arena *arena, const struct nest *nest)
{
    CLEANUP(buf_free) struct buf text = {0};
    nest_print(nest, &text);
    return arena_strdup(arena, buf_text(&text));
}

/* The text after the steps, or the refusal. */
static const char *after(struct arena *arena, const char *body, const char *steps)
{
    struct nest *out = NULL;
    struct nest *again = NULL;
    const char *refusal = NULL;
    if (!nest_apply(must_read(arena, body), steps, NULL, arena, &out, &refusal))
        return refusal;
    const char *text = print(arena, out);
    assert_true(nest_read(&plain, text, arena, &again, &refusal));
    assert_int_equal(again->opaque_count, 0);
    assert_string_equal(print(arena, again), text);
    return text;
}

static void skew__two_grids__each_sweep_is_a_round_further_back(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    assert_string_equal(
        after(&arena,
              STEPS(I("y[i] = x[i - 1] + x[i + 1];") "for (int64_t i = 2; i <= m - 4; i++) x[i] = "
                                                     "y[i - 1] + y[i + 1];"),
              "skew(t:4,i:64)"),
        HEAD
        "{\n"
        "    for (int64_t t_s = 0; t_s < steps; t_s += 4) {\n"
        "        for (int64_t i_s = 2; i_s < m + 4; i_s += 64) "
        "{\n"
        "            for (int64_t t = t_s; t < (t_s + 4 < steps ? t_s + 4 : steps); t++) {\n"
        "                const int64_t i_at = i_s - 2 * (t - t_s);\n"
        "                for (int64_t i = i_at > 2 ? i_at : 2; i < (i_at + 64 < m - 2 ? i_at + "
        "64 : m - 2); i++) {\n"
        "                    y[i] = x[i - 1] + x[i + 1];\n"
        "                }\n"
        "                for (int64_t i2 = i_at - 1 > 2 ? i_at - 1 : 2; i2 < (i_at + 63 < m - "
        "3 ? i_at + 63 : m - 3); i2++) {\n"
        "                    x[i2] = y[i2 - 1] + y[i2 + 1];\n"
        "                }\n"
        "            }\n"
        "        }\n"
        "    }\n"
        "}\n");
}

static void skew__in_place__strips_in_both_directions(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    assert_string_equal(
        after(
            &arena,
            STEPS(IJ("a[i * m + j] = a[(i - 1) * m + j] + a[i * m + j + 1] + a[(i + 1) * m + j];")),
            "skew(t:8,i:16,j:128)"),
        HEAD
        "{\n"
        "    for (int64_t t_s = 0; t_s < steps; t_s += 8) {\n"
        "        for (int64_t i_s = 2; i_s < n + 5; i_s += 16) {\n"
        "            for (int64_t j_s = 2; j_s < m + 5; j_s += 128) {\n"
        "                for (int64_t t = t_s; t < (t_s + 8 < steps ? t_s + 8 : steps); t++) "
        "{\n"
        "                    const int64_t i_at = i_s - (t - t_s);\n"
        "                    const int64_t j_at = j_s - (t - t_s);\n"
        "                    for (int64_t i = i_at > 2 ? i_at : 2; i < (i_at + 16 < n - 2 ? "
        "i_at + 16 : n - 2); i++) {\n"
        "                        for (int64_t j = j_at > 2 ? j_at : 2; j < (j_at + 128 < m - 2 "
        "? j_at + 128 : m - 2); j++) {\n"
        "                            a[i * m + j] = a[(i - 1) * m + j] + a[i * m + j + 1] + "
        "a[(i + 1) * m + j];\n"
        "                        }\n"
        "                    }\n"
        "                }\n"
        "            }\n"
        "        }\n"
        "    }\n"
        "}\n");
}

struct answer {
    const char *body, *steps, *why; /* why NULL: allowed */
};

static void check_all(const struct answer *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *got = after(&arena, cases[i].body, cases[i].steps);
        const char *want = cases[i].why ? cases[i].why : "int64_t t_s";
        if (!strstr(got, want))
            fail_msg("%s of '%s': '%s' has no '%s'", cases[i].steps, cases[i].body, got, want);
    }
}

static void skew__distances__decide_how_far_behind(void **state)
{
    static const struct answer cases[] = {
        {STEPS(I("y[i] = x[i - 1] + x[i + 1];") I("x[i] = y[i];")), "skew(t:2,i:2)", NULL},
        {STEPS(I("y[i] = x[i - 2] + x[i + 2];") I("x[i] = y[i];")), "skew(t:2,i:2)",
         "dependence on x"},
        {STEPS(I("y[i] = x[i - 2] + x[i + 2];") I("x[i] = y[i];")), "skew(t:2,i:2,2)", NULL},
        {STEPS(I("y[i] = x[i];") I("x[i] = y[i - 1] + y[i + 2];")), "skew(t:2,i:2)",
         "dependence on y"},
        {STEPS(I("y[i] = x[i];") I("x[i] = y[i - 1] + y[i + 2];")), "skew(t:2,i:2,2)", NULL},
        {STEPS(I("x[i] = x[i - 1] + x[i + 1];")), "skew(t:9,i:99)", NULL},
        {STEPS(I("x[i] = x[i - 2] + x[i + 2];")), "skew(t:9,i:99)",
         "dependence on x carried by t, distance (1, -2)"},
        {STEPS(I("x[i] = x[i - 2] + x[i + 2];")), "skew(t:9,i:99,2)", NULL},
        /* backward in a round is no harm to strips that stay in order, but to those of columns */
        {STEPS(IJ("a[i * m + j] = a[(i - 1) * m + j + 2];")), "skew(t:4,i:8)", NULL},
        {STEPS(IJ("a[i * m + j] = a[(i - 1) * m + j + 2];")), "skew(t:4,i:8,j:8)",
         "dependence on a carried by t, distance (*, 1, -2)"},
        {STEPS(IJ("a[i * m + j] = a[(m - i) * m + j];")), "skew(t:4,i:8)",
         "dependence on a carried by t"},
        /* whole rows of another sweep */
        {STEPS(I("y[i] = x[i];") I("x[i] = y[5];")), "skew(t:2,i:4)", "dependence on y"},
        /* one array of two sweeps with different bounds */
        {STEPS(IJ("b[i * m + j] = a[i * m + j + 1];") "for (int64_t p = 0; p < n; p++) for "
                                                      "(int64_t q = 0; q < m; q++) a[p * m + q] = "
                                                      "b[p * m + q];"),
         "skew(t:3,i:7)", NULL},
        /* a variable of all steps */
        {"real s = 0; " STEPS(I("s = s * 2 + x[i];")) " y[0] = s;", "skew(t:3,i:7)",
         "dependence on s carried by t"},
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof *cases);
}

static void skew__what_is_no_time_loop_of_sweeps__says_why(void **state)
{
    static const struct answer cases[] = {
        {STEPS("x[0] = 1; " I("x[i] = x[i - 1];")), "skew(t:2,i:2)", "stands beside the sweeps of"},
        {STEPS(I("x[i] = x[i - 1];")), "skew(t:2)", "is not of the form skew("},
        {STEPS(I("x[i] = x[i - 1];")), "skew(t:2,2)", "names no loop to cut into strips"},
        {STEPS(I("x[i] = x[i - 1];")), "skew(t:1,i:8)", "needs a number from 2"},
        {STEPS(I("x[i] = x[i - 1];")), "skew(t:2,i:8,0)", "needs a number from 1"},
        {STEPS(I("x[i] = x[i - 1];")), "skew(t:2,i)", "needs a number from 1"},
        {STEPS(I("x[i] = x[i - 1];")), "skew(t:2,k:8)", "there is no loop 'k'"},
        {STEPS(I("x[i] = x[i - 1];")), "skew(t:65536,i:8,2)", "more than 65536 rounds back"},
        {STEPS(I("x[i] = 1;") I("x[i] = 2;")), "skew(t:2,i2:8)",
         "loop 'i2' is not loop 1 of the first sweep in 't'"},
        {STEPS(IJ("a[i * m + j] = 1;") I("x[i] = 2;")), "skew(t:2,i:8,j:8)",
         "the body of loop 'i2' is not one loop"},
        {STEPS("for (int64_t i = t; i < m; i++) x[i] = 1;"), "skew(t:2,i:8)",
         "the bounds of loop 'i' depend on 't'"},
        {STEPS("for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < i; j++) a[i * m + j] = 1;"),
         "skew(t:2,i:8,j:8)", "the bounds of loop 'j' depend on 'i'"},
        {STEPS("for (int64_t i = 0; i < m; i += 2) x[i] = 1;"), "skew(t:2,i:8)",
         "does not count up by 1 with a sign"},
        {STEPS("for (int64_t i = m - 1; i >= 0; i--) x[i] = 1;"), "skew(t:2,i:8)",
         "counts downward"},
        {STEPS("for (size_t i = 0; i < 9; i++) x[i] = 1;"), "skew(t:2,i:8)",
         "does not count up by 1 with a sign"},
        {"for (int64_t t = 9; t > 0; t--) { " I("x[i] = 1;") "}", "skew(t:2,i:8)",
         "counts downward"},
        {STEPS("for (int64_t i = 0; i < (int64_t)x[0]; i++) y[i] = 1;"), "skew(t:2,i:8)",
         "a bound of loop 'i' is computed in the nest"},
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof *cases);
}

/* The first suggestions of the move, which are for loops over time only. */
static void skew__suggestions__are_for_time_loops(void **state)
{
    static const struct {
        const char *body, *first; /* NULL: none */
    } cases[] = {
        {STEPS(I("y[i] = x[i - 1];") I("x[i] = y[i];")), "skew(t:8,i:2048)"},
        {STEPS(IJ("a[i * m + j] = a[i * m + j + 1];")), "skew(t:8,i:32)"},
        {STEPS(IJ("b[i * m + j] = a[i * m + j];")), NULL},
        {"for (int64_t p = 0; p < n; p++) for (int64_t j = 0; j < m; j++) a[j] = a[p * m + j];",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *step = NULL;
        const struct nest_target target = {0};
        const size_t count = nest_move_find("skew")->suggest(must_read(&arena, cases[i].body),
                                                             &target, &arena, &step, 1);
        assert_int_equal(count, cases[i].first != NULL);
        if (cases[i].first)
            assert_string_equal(step, cases[i].first);
    }
}

/* The steps of the first sequence whose name begins so, or NULL; for one case of n by m. */
static const char *pattern_of(struct arena *arena, int n, int m, const char *body, const char *name)
{
    static const struct nest_target target = {
        .vector_bytes = 32, .cache_bytes = {INT64_C(1) << 15, INT64_C(1) << 20}, .family = "gcc"};
    struct nest_pattern out[NEST_MAX_PATTERNS];
    const struct task *task = NULL;
    struct nest *nest = NULL;
    const char *why = NULL;
    struct err err;
    const char *yaml = arena_printf(
        arena,
        "name: f\ndtype: float32\naxes: [steps, n, m]\nargs:\n"
        "  - {name: a, role: inout, shape: [n, m]}\n  - {name: b, role: inout, shape: [n, m]}\n"
        "  - {name: x, role: inout, shape: [m]}\n  - {name: y, role: inout, shape: [m]}\n"
        "cases:\n  - {steps: 9, n: 8, m: 8}\n  - {steps: 2, n: %d, m: %d}\nheld_out:\n  - {steps: "
        "1, n: 9, m: 9}\n",
        n, m);
    const char *source = arena_printf(arena, HEAD "{\n%s\n}\n", body);
    if (!task_parse(yaml, strlen(yaml), source, "", arena, &task, &err))
        fail_msg("%s", err.message);
    assert_true(nest_read(task, source, arena, &nest, &why));
    const size_t count = nest_patterns(nest, &target, arena, out);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(out[i].name, name, strlen(name)) == 0)
            return out[i].steps;
    }
    return NULL;
}

static void nest_patterns__time_steps__strips_fit_a_cache(void **state)
{
    static const char rows[] = STEPS(IJ("b[i * m + j] = a[i * m + j - 1] + a[(i + 1) * m + j];")
                                         IJ("a[i * m + j] = b[i * m + j];"));
    static const char elements[] = STEPS(I("y[i] = x[i - 2] + x[i + 2];") I("x[i] = y[i];"));
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    /* rows of 2 x 2 KiB: 128 of them in half of the second cache, of which 32 are behind */
    assert_string_equal(pattern_of(&arena, 512, 512, rows, "nest-time-16x64"),
                        "skew(t:16,i:64);vectorize(j:32);vectorize(j2:32)");
    /* of 2 x 16 KiB: 16, which are too few for 16 steps and for 8, but for parts of rows */
    assert_string_equal(pattern_of(&arena, 512, 4096, rows, "nest-time-16x32x512"),
                        "skew(t:16,i:32,j:512);vectorize(j:32);vectorize(j2:32)");
    assert_string_equal(pattern_of(&arena, 512, 4096, rows, "nest-time-4"),
                        "skew(t:4,i:8);vectorize(j:32);vectorize(j2:32)");
    /* elements in half of the nearest one, two behind in each sweep */
    assert_string_equal(pattern_of(&arena, 8, 4096, elements, "nest-time"),
                        "skew(t:16,i:1024,2);vectorize(i:32);vectorize(i2:32)");
    /* nothing is read again in the next step */
    assert_null(pattern_of(&arena, 8, 4096, STEPS(I("y[i] = x[i];")), "nest-time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skew__two_grids__each_sweep_is_a_round_further_back),
        cmocka_unit_test(skew__in_place__strips_in_both_directions),
        cmocka_unit_test(skew__distances__decide_how_far_behind),
        cmocka_unit_test(skew__what_is_no_time_loop_of_sweeps__says_why),
        cmocka_unit_test(skew__suggestions__are_for_time_loops),
        cmocka_unit_test(nest_patterns__time_steps__strips_fit_a_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Loop nests: what is read prints again and reads the same; what is not understood stays, with a
 * reason; the dimensions behind flat subscripts. */
#include "base/arena.h"
#include "base/str.h"
#include "moves/nest.h"
#include "moves/nest/affine.h"
#include "os/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct task plain = {.name = "f",
                                  .entry = "f",
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
    struct buf text = {0};
    nest_print(nest, &text);
    char *copy = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

/* The first thing that was not understood, or NULL. */
static bool find_opaque(void *context, struct nest_stmt *stmt, int depth)
{
    const struct nest_stmt **found = context;
    (void)depth;
    if (stmt->kind == NEST_OPAQUE)
        *found = stmt;
    return *found == NULL;
}

static const struct nest_stmt *opaque_of(const struct nest *nest)
{
    const struct nest_stmt *found = NULL;
    (void)nest_walk(nest->body, find_opaque, &found);
    return found;
}

static void nest_read__every_example__is_understood_and_prints_to_itself(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    char **names = NULL;
    size_t count = 0, read = 0;
    (void)state;
    assert_true(os_list_dir(KOPE_SOURCE_DIR "/examples", &arena, &names, &count, &err));
    for (size_t i = 0; i < count; i++) {
        const struct task *task = NULL;
        struct nest *nest = NULL, *again = NULL;
        const char *why = NULL;
        const char *dir = arena_printf(&arena, KOPE_SOURCE_DIR "/examples/%s", names[i]);
        if (!os_path_is_dir(dir))
            continue;
        assert_true(task_load(dir, &arena, &task, &err));
        assert_true(nest_read(task, task->reference, &arena, &nest, &why));
        if (opaque_of(nest))
            fail_msg("%s, line %d: %s", names[i], opaque_of(nest)->line, opaque_of(nest)->reason);
        const char *text = print(&arena, nest);
        assert_true(nest_read(task, text, &arena, &again, &why));
        assert_string_equal(print(&arena, again), text);
        assert_true(nest->loop_count > 0);
        read++;
    }
    assert_true(read >= 12);
}

/* C that users write, in the form in which it prints. */
static void nest_print__operators_and_statements__as_c_means_them(void **state)
{
    static const struct {
        const char *body, *printed;
    } cases[] = {
        {"a[0] = (b[0] + b[1]) * -b[2] - (b[3] - b[4]);",
         "    a[0] = (b[0] + b[1]) * -b[2] - (b[3] - b[4]);\n"},
        {"a[0] = b[0] - b[1] - b[2];", "    a[0] = b[0] - b[1] - b[2];\n"},
        {"a[0] = b[0] / (b[1] * b[2]);", "    a[0] = b[0] / (b[1] * b[2]);\n"},
        {"a[0] = - -b[0];", "    a[0] = -(-b[0]);\n"},
        {"a[0] = (real)n / 2;", "    a[0] = (real)n / 2;\n"},
        {"a[0] = (real)(n + 1);", "    a[0] = (real)(n + 1);\n"},
        {"a[0] = n > 1 && m < 2 || !(n == m) ? b[0] : b[1];",
         "    a[0] = n > 1 && m < 2 || !(n == m) ? b[0] : b[1];\n"},
        {"a[0] = (n ? b[0] : b[1]) + 1;", "    a[0] = (n ? b[0] : b[1]) + 1;\n"},
        {"*a = b[0]; a[1]++; --a[2];", "    a[0] = b[0];\n    a[1] += 1;\n    a[2] -= 1;\n"},
        {"real s = 0, t; t = s; a[0] = t;",
         "    real s = 0;\n    real t;\n    t = s;\n    a[0] = t;\n"},
        {"const real *row = a + n * m; real *p = &a[3]; p[0] = row[1];",
         "    const real *row = a + n * m;\n    real *p = &a[3];\n    p[0] = row[1];\n"},
        {"if (n > 2) a[0] = 1; else { a[0] = 2; }",
         "    if (n > 2) {\n        a[0] = 1;\n    } else {\n        a[0] = 2;\n    }\n"},
        {"for (int i = 8; i >= 0; i -= 2) a[i] = fmaxf(b[i], 0.5f);",
         "    for (int i = 8; i >= 0; i -= 2) {\n        a[i] = fmaxf(b[i], 0.5f);\n    }\n"},
        {"a[0] = n << 2 & 3;", "    a[0] = n << 2 & 3;\n"},
        {"a[0] = n << (2 & 3);", "    a[0] = n << (2 & 3);\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct nest *nest = must_read(&arena, cases[i].body);
        if (opaque_of(nest))
            fail_msg("'%s': %s", cases[i].body, opaque_of(nest)->reason);
        const char *want = arena_printf(&arena, HEAD "{\n%s}\n", cases[i].printed);
        assert_string_equal(print(&arena, nest), want);
        struct nest *again = NULL;
        const char *why = NULL;
        assert_true(nest_read(&plain, want, &arena, &again, &why));
        assert_string_equal(print(&arena, again), want);
    }
}

/* One unknown statement is kept with its text, its line and a reason, and what is around it is
 * understood. */
static void nest_read__not_of_the_subset__is_opaque_with_a_reason(void **state)
{
    static const struct {
        const char *statement, *reason;
    } cases[] = {
        {"while (n > 0) n--;", "'while' is not understood: a 'for' that counts"},
        {"do a[0] = 1; while (0);", "'do'"},
        {"goto end;", "'goto'"},
        {"switch (n) { case 1: a[0] = 1; }", "'switch'"},
        {"return;", "'return'"},
        {"puts(\"x\");", "no function of <math.h>"},
        {"a[0] = other;", "'other' is not declared"},
        {"static real kept;", "'static'"},
        {"real t[2] = {0, 0};", "initialiser"},
        {"for (;;) a[0] = 1;", "does not declare its counter"},
        {"for (int64_t i = 0; i != n; i++) a[i] = 1;", "not <, <=, > or >="},
        {"for (int64_t i = 0; i < n; i--) a[i] = 1;", "away from its bound"},
        {"for (int64_t i = 1; i < n; i *= 2) a[i] = 1;", "no number"},
        {"for (int64_t i = 0; i < n; i += m) a[i] = 1;", "no number"},
        {"for (int64_t i = 0; i < n; i++) n = 2;", "'n' changes in its body"},
        {"for (int64_t i = 0; i < n && i < n * m; i++) a[i] = 1;", "more than one comparison"},
        {"for (int64_t i = 0; i < n & 7; i++) a[i] = 1;", "more than one comparison"},
        {"for (int64_t i = 0; i < n ? i < 2 : 0; i++) a[i] = 1;", "more than one comparison"},
        {"for (int64_t i = 0; i < n == 1; i++) a[i] = 1;", "more than one comparison"},
        {"for (int64_t i = 0; i < n < m; i++) a[i] = 1;", "more than one comparison"},
        {"for (int64_t i = 0; i < n - i; i++) a[i] = 1;", "its own counter 'i'"},
        {"for (int64_t i = 0; i < (n > i); i++) a[i] = 1;", "its own counter 'i'"},
        {"for (real x = 0; x < n; x++) a[0] = x;", "no integer"},
        {"a = 0;", "only a variable"},
        {"n[0] = 1;", "no array"},
        {"a[0] = b[0], a[1] = b[1];", "expected ';'"},
        {"a[0] = (b[0], b[1]);", "parentheses"},
        {"a[0] = {1};", "'{'"},
        {"const real *q = n ? a : b;", "plain sum"},
        {"asm(\"nop\");", "no function"},
        {"union { int i; } u;", "union"},
        {"struct { int i; } s;", "'struct' is not understood: plain variables"},
        {"end: a[0] = 1;", "a label is not understood"},
        {"continue;", "'continue' is not understood: an 'if' around the rest"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct nest *nest =
            must_read(&arena, arena_printf(&arena, "a[7] = 1;\n%s\na[8] = 2;", cases[i].statement));
        const struct nest_stmt *opaque = opaque_of(nest);
        if (!opaque)
            fail_msg("'%s' was understood", cases[i].statement);
        if (!strstr(opaque->reason, cases[i].reason))
            fail_msg("'%s': %s", cases[i].statement, opaque->reason);
        assert_int_equal(opaque->line, 4);
        assert_non_null(strstr(print(&arena, nest), cases[i].statement));
        assert_non_null(strstr(print(&arena, nest), "a[8] = 2;"));
    }
}

static void nest_read__macro_with_arguments__the_reason_says_what_would_be_understood(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = NULL;
    const char *why = NULL;
    (void)state;
    assert_true(nest_read(&plain,
                          "#define TWICE_MORE(x) (4 * (x))\n#  define TWICE(x) (2 * (x))\n"
                          "void f(real *a, const real *b, int64_t n, int64_t m)\n{\n"
                          "    a[0] = TWICE(b[0]);\n}\n",
                          &arena, &nest, &why));
    assert_non_null(opaque_of(nest));
    assert_string_equal(opaque_of(nest)->reason, "'TWICE' is a macro with arguments: a helper "
                                                 "function would be understood");
    assert_int_equal(opaque_of(nest)->line, 5);
}

/* A counter that its body assigns makes that assignment opaque, never a counted loop that is not
 * one. */
static void nest_read__counter_assigned_in_body__is_not_understood(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = must_read(&arena, "for (int64_t i = 0; i < n; i++) { i += 1; a[i] = 0; }");
    (void)state;
    assert_non_null(opaque_of(nest));
    assert_non_null(strstr(opaque_of(nest)->reason, "counter 'i'"));
}

/* The bound's element is assigned by another name. */
static void nest_read__bound_changes_through_a_pointer__is_not_understood(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = must_read(&arena, "const real *q = a;\nreal *r = &a[1];\n"
                                          "for (int64_t i = 0; i < (int64_t)q[1]; i++) r[0] = 2;");
    (void)state;
    assert_non_null(opaque_of(nest));
    assert_non_null(strstr(opaque_of(nest)->reason, "'q' changes in its body"));
}

static void nest_read__loops_of_one_counter__have_names_of_their_own(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = must_read(&arena, "for (int64_t i = 0; i < n; i++) a[i] = 0;\n"
                                          "for (int64_t i = 0; i < n; i++) a[i] += 1;");
    (void)state;
    assert_non_null(nest_find_loop(nest, "i"));
    assert_non_null(nest_find_loop(nest, "i2"));
    assert_ptr_not_equal(nest_find_loop(nest, "i"), nest_find_loop(nest, "i2"));
    assert_null(nest_find_loop(nest, "j"));
}

static void nest_read__no_definition_or_open_brackets__is_refused_in_words(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = NULL;
    const char *why = NULL;
    (void)state;
    assert_false(nest_read(&plain, "void g(void) {}", &arena, &nest, &why));
    assert_non_null(strstr(why, "definition"));
    assert_false(nest_read(&plain, HEAD "{ a[0] = (1; }", &arena, &nest, &why));
    assert_false(nest_read(&plain, "void f(struct s *a) {}", &arena, &nest, &why));
    assert_non_null(strstr(why, "parameter"));
}

static void nest_read__deep_or_endless_text__is_bounded(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct buf body = {0};
    (void)state;
    (void)buf_append_str(&body, "a[0] = ");
    for (int i = 0; i < 5000; i++)
        (void)buf_append_char(&body, '(');
    (void)buf_append_str(&body, "1");
    for (int i = 0; i < 5000; i++)
        (void)buf_append_char(&body, ')');
    (void)buf_append_str(&body, ";");
    assert_non_null(opaque_of(must_read(&arena, buf_text(&body))));
    buf_clear(&body);
    for (int i = 0; i < 300; i++)
        (void)buf_append_str(&body, "if (n) ");
    (void)buf_append_str(&body, "a[0] = 1;");
    assert_non_null(opaque_of(must_read(&arena, buf_text(&body))));
    buf_free(&body);
}

struct delinear {
    const struct nest *nest;
    struct buf text;
};

static bool print_access(void *context, const struct nest_expr *expr, bool is_target)
{
    struct delinear *d = context;
    struct poly subscripts[NEST_MAX_DIMENSIONS];
    size_t rank = 0;
    const struct nest_symbol *array = NULL;
    const char *why = NULL;
    if (!is_target)
        return true;
    if (!nest_delinearize(d->nest, expr, subscripts, &rank, &array, &why)) {
        (void)buf_append_str(&d->text, why);
        return true;
    }
    (void)buf_append_str(&d->text, array->name);
    for (size_t i = 0; i < rank; i++) {
        (void)buf_append_char(&d->text, '[');
        poly_print(&subscripts[i], &d->text);
        (void)buf_append_char(&d->text, ']');
    }
    return true;
}

static bool print_targets(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, print_access, context);
}

static void nest_delinearize__flat_subscripts__by_the_declared_shape(void **state)
{
    static const struct {
        const char *body, *want;
    } cases[] = {
        {"for (int64_t i = 0; i < n; i++) a[i * m + 3] = 0;", "a[i][3]"},
        {"for (int64_t i = 0; i < n; i++) a[3 + m * (i + 1)] = 0;", "a[i + 1][3]"},
        {"for (int64_t i = 0; i < n; i++) a[(i - 1) * m - 2] = 0;", "a[i - 1][-2]"},
        {"real *row = a + 2 * m; row[5] = 0;", "a[2][5]"},
        {"real *row = a + m; real *at = &row[1]; *at = 0;", "a[1][1]"},
        {"real t[4][5]; t[n][2 * m] = 0;", "t[n][2*m]"},
        {"a[n / 2] = 0;", "no polynomial"},
        {"a[(int64_t)b[0]] = 0;", "no polynomial"},
        {"a[0] = 0;", "a[0][0]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct nest *nest = must_read(&arena, cases[i].body);
        struct delinear d = {.nest = nest};
        (void)nest_walk(nest->body, print_targets, &d);
        if (!strstr(buf_text(&d.text), cases[i].want))
            fail_msg("'%s' gave '%s'", cases[i].body, buf_text(&d.text));
        buf_free(&d.text);
    }
}

/* The source calls the first argument what the task calls the second, and turns the axes. */
static void nest_delinearize__names_are_the_sources_own__shapes_go_by_place(void **state)
{
    static const struct task turned = {.name = "f",
                                       .entry = "f",
                                       .axes = {{.name = "n"}, {.name = "m"}},
                                       .axis_count = 2,
                                       .args = {{.name = "a", .rank = 2, .shape_text = {"n", "m"}},
                                                {.name = "b", .rank = 2, .shape_text = {"m", "n"}}},
                                       .arg_count = 2};
    static const char source[] = "void f(const real *b, real *a, int64_t m, int64_t n)\n{\n"
                                 "    for (int64_t i = 0; i < m; i++)\n"
                                 "        for (int64_t j = 0; j < n; j++)\n"
                                 "            a[j * m + i] = b[i * n + j];\n}\n";
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf text = {0};
    struct nest *nest = NULL;
    const char *why = NULL;
    (void)state;
    assert_true(nest_read(&turned, source, &arena, &nest, &why));
    nest_explain(nest, &arena, &text);
    assert_non_null(strstr(buf_text(&text), "a[j][i]"));
    assert_non_null(strstr(buf_text(&text), "b[i][j]"));
    assert_int_equal(nest->symbols[0]->argument, 0);
    assert_int_equal(nest->symbols[1]->argument, 1);
}

/* (i * m + j) and the subscripts it is taken apart into have to be the same number. */
static void poly__multiplied_out_and_back__is_equal(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = must_read(&arena, "a[(n + 2) * (m - 3) + n] = 0;\n"
                                          "a[n * m - 3 * n + 2 * m - 6 + n] = 0;");
    struct poly p, q;
    (void)state;
    assert_true(poly_of(nest->body->target->args[0], &p));
    assert_true(poly_of(nest->body->next->target->args[0], &q));
    assert_true(poly_equal(&p, &q));
    assert_true(poly_add(&q, &p, -1));
    int64_t value = -1;
    assert_true(poly_is_constant(&q, &value));
    assert_int_equal(value, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nest_read__every_example__is_understood_and_prints_to_itself),
        cmocka_unit_test(nest_print__operators_and_statements__as_c_means_them),
        cmocka_unit_test(nest_read__not_of_the_subset__is_opaque_with_a_reason),
        cmocka_unit_test(nest_read__macro_with_arguments__the_reason_says_what_would_be_understood),
        cmocka_unit_test(nest_read__counter_assigned_in_body__is_not_understood),
        cmocka_unit_test(nest_read__bound_changes_through_a_pointer__is_not_understood),
        cmocka_unit_test(nest_read__loops_of_one_counter__have_names_of_their_own),
        cmocka_unit_test(nest_read__no_definition_or_open_brackets__is_refused_in_words),
        cmocka_unit_test(nest_read__deep_or_endless_text__is_bounded),
        cmocka_unit_test(nest_delinearize__flat_subscripts__by_the_declared_shape),
        cmocka_unit_test(nest_delinearize__names_are_the_sources_own__shapes_go_by_place),
        cmocka_unit_test(poly__multiplied_out_and_back__is_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

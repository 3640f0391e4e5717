/* `alias`: what is read of it, what it is to those who need buffers, and every mistake. */
#include "base/buf.h"
#include "base/str.h"
#include "task/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* Two pairs with an argument between, one output in front of its input. */
static const char good_yaml[] =
    "name: both\n"
    "dtype: float32\n"
    "axes: [m, n, ld]\n"
    "args:\n"
    "  - {name: a, role: in, shape: [m, n + 1], ld: ld, draw: {kind: uniform, low: 2, high: 3}}\n"
    "  - {name: out_b, role: out, dtype: int32, shape: [n], alias: b}\n"
    "  - {name: w, role: in, shape: [n]}\n"
    "  - {name: out_a, role: out, shape: [m, \"(n + 1)\"], ld: ld, alias: a}\n"
    "  - {name: b, role: in, dtype: int32, shape: [n], draw: {kind: integer, low: 5, high: 9}}\n"
    "  - {name: c, role: inout, shape: [n]}\n"
    "special:\n"
    "  - {a: nan, out_a: finite, c: 1}\n"
    "cases:\n"
    "  - {m: 4, n: 8, ld: 9}\n"
    "held_out:\n"
    "  - {m: 3, n: 9, ld: 12}\n";

static bool parse(const char *find, const char *replace, const char *reference, struct arena *arena,
                  const struct task **out, struct err *err)
{
    CLEANUP(buf_free) struct buf yaml = {0};
    const char *at = strstr(good_yaml, find);
    assert_non_null(at);
    (void)buf_append(&yaml, good_yaml, (size_t)(at - good_yaml));
    (void)buf_append_str(&yaml, replace);
    (void)buf_append_str(&yaml, at + strlen(find));
    return task_parse(yaml.data, yaml.length, reference, "", arena, out, err);
}

static const struct task *good(struct arena *arena)
{
    struct err err = {0};
    const struct task *task = NULL;
    if (!parse("both", "both", "void both(void) {}\n", arena, &task, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return task;
}

static void task_parse__alias_is_given__arguments_share_a_buffer(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = good(&arena);
    assert_true(task->args[1].has_alias && task->args[1].alias == 4);
    assert_true(task->args[3].has_alias && task->args[3].alias == 0);
    static const bool is_shared[] = {true, true, false, true, true, false};
    static const size_t buffers[] = {2, 0, 1, 2, 0, 3};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(task_arg_is_shared(task, i), is_shared[i]);
        assert_int_equal(task_arg_buffer(task, i), buffers[i]);
    }
    assert_string_equal(task_alias_text(task, &arena),
                        "`b` and `out_b` are one buffer: every call works in place, with the same "
                        "pointer for both; `a` and `out_a` are one buffer: every call works in "
                        "place, with the same pointer for both");
    assert_string_equal(task_signature(task, "real", &arena),
                        "void both(const real *a, int32_t *out_b, const real *w, real *out_a, "
                        "const int32_t *b, real *c, int64_t m, int64_t n, int64_t ld)");
}

static void task_buffers__some_are_shared__are_inout_with_the_draw_of_the_input(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = good(&arena);
    const struct task *view = task_buffers(task, &arena);
    static const char *const names[] = {"out_b", "w", "out_a", "c"};
    static const enum arg_role roles[] = {ARG_INOUT, ARG_IN, ARG_INOUT, ARG_INOUT};
    assert_int_equal(view->arg_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(view->args[i].name, names[i]);
        assert_int_equal(view->args[i].role, roles[i]);
        assert_false(view->args[i].has_alias);
    }
    assert_true(view->args[0].draw.a == 5 && view->args[2].draw.a == 2);
    const struct task_special *special = &view->specials[0];
    assert_int_equal(special->args[2].kind, SPECIAL_VALUE);
    assert_true(isnan(special->args[2].value));
    assert_int_equal(special->results[2].kind, SPECIAL_FINITE);
    assert_int_equal(special->args[3].kind, SPECIAL_VALUE);
    assert_int_equal(special->results[3].kind, SPECIAL_FREE);
    assert_string_equal(view->id.text, task->id.text);
    /* 4 rows of 9, 8 of w, 8 of b, 8 of c */
    assert_true(task_bytes(task, &task->cases[0]) == 4 * (36 + 8 + 8 + 8));
    assert_true(task_bytes(view, &task->cases[0]) == task_bytes(task, &task->cases[0]));
}

static void task_buffers__none_is_shared__is_the_task(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    const struct task *task = NULL;
    const char yaml[] = "name: one\ndtype: float32\naxes: [n]\nargs:\n"
                        "  - {name: x, role: in, shape: [n]}\n"
                        "  - {name: y, role: out, shape: [n]}\n"
                        "cases: [{n: 8}]\nheld_out: [{n: 9}]\n";
    assert_true(
        task_parse(yaml, strlen(yaml), "void one(void) { restrict; }\n", "", &arena, &task, &err));
    assert_ptr_equal(task_buffers(task, &arena), task);
    assert_false(task_is_in_place(task));
    assert_string_equal(task_alias_text(task, &arena), "");
    assert_int_equal(task_arg_buffer(task, 1), 1);
}

static void task_parse__alias_is_changed__id_differs(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    const struct task *other = NULL;
    assert_true(
        parse(", ld: ld, alias: a}", ", ld: ld}", "void both(void) {}\n", &arena, &other, &err));
    assert_string_not_equal(good(&arena)->id.text, other->id.text);
}

static void task_parse__wrong_alias__says_where_and_how(void **state)
{
    (void)state;
    static const struct {
        const char *find, *replace, *message, *hint;
    } mistakes[] = {
        {"alias: b", "alias: q", "task.yaml:6:63: 'alias' is 'q', which is no argument",
         "name the input whose buffer 'out_b' takes"},
        {"alias: b", "alias: m", "task.yaml:6:63: 'alias' is 'm', which is no argument",
         "name the input whose buffer 'out_b' takes"},
        {"alias: b", "alias: c",
         "task.yaml:6:63: 'alias' of 'out_b' is 'c', which is written itself",
         "name an input (role: in), whose buffer the output takes"},
        {"alias: b", "alias: out_b",
         "task.yaml:6:63: 'alias' of 'out_b' is 'out_b', which is written itself", NULL},
        {"alias: b", "alias: w",
         "task.yaml:6:63: 'out_b' is int32 and 'w' is real: one buffer has "
         "one dtype",
         "give both the same dtype, or leave 'alias' out"},
        {"shape: [n], alias: b", "shape: [n + 1], alias: b",
         "task.yaml:6:67: 'out_b' and 'b' differ in shape or ld: arguments that overlap in part "
         "are "
         "not supported",
         "write both shapes alike, with the same 'ld'; or make it one argument with role: inout "
         "that covers both"},
        {", ld: ld, alias: a", ", alias: a",
         "task.yaml:8:60: 'out_a' and 'a' differ in shape or ld: arguments that overlap in part "
         "are "
         "not supported",
         NULL},
        {"name: c, role: inout, shape: [n]", "name: c, role: inout, shape: [n], alias: w",
         "task.yaml:10:47: 'alias' of 'c', whose role is inout",
         "it gives an output (role: out) the buffer of an input; role: inout alone is one argument "
         "that is read and written"},
        {"name: w, role: in, shape: [n]", "name: w, role: in, shape: [n], alias: b",
         "task.yaml:7:44: 'alias' of 'w', whose role is in", NULL},
        {"name: c, role: inout, shape: [n]",
         "name: c, role: out, dtype: int32, shape: [n], alias: b",
         "task.yaml:10:59: 'alias' of 'c' is 'b', whose buffer 'out_b' has already",
         "one output takes an input's buffer: leave 'alias' out of 'out_b' or 'c'"},
        {"alias: b", "alias: [b]", "task.yaml:6:63: 'alias' must be one value", NULL},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct err err = {0};
        const struct task *task = NULL;
        if (parse(mistakes[i].find, mistakes[i].replace, "void both(void) {}\n", &arena, &task,
                  &err))
            fail_msg("accepted: '%s'", mistakes[i].replace);
        assert_int_equal(err.kind, ERR_BAD_INPUT);
        assert_string_equal(err.message, mistakes[i].message);
        if (mistakes[i].hint)
            assert_string_equal(err.hint, mistakes[i].hint);
    }
}

static void task_parse__reference_says_restrict__is_refused(void **state)
{
    (void)state;
    static const char *const words[] = {"restrict", "__restrict", "__restrict__"};
    for (size_t i = 0; i < 3; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct err err = {0};
        const struct task *task = NULL;
        const char *reference = arena_printf(
            &arena, "/* it is */ void both(const real *a,\n    real *%s y) {}\n", words[i]);
        assert_false(parse("both", "both", reference, &arena, &task, &err));
        assert_non_null(
            strstr(err.message,
                   arena_printf(&arena, "reference.c:2:11: the reference has the word '%s', but ",
                                words[i])));
    }
}

static void task_parse__restrict_is_no_code__is_accepted(void **state)
{
    (void)state;
    static const char *const references[] = {
        "/* no restrict: x and y are one */ void both(void) {}\n",
        "#if 0\n#error don't\n#endif\nvoid both(void) {}\n",
        "// restrict\nvoid both(void) {}\n",
        "// a line that goes on \\\nrestrict\nvoid both(void) {}\n",
        "void both(void) { const char *s = \"a \\\" restrict\"; }\n",
        "void both(void) { int restrict_1 = '\"'; int q = '\\''; /* ' */ }\n",
    };
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct err err = {0};
        const struct task *task = NULL;
        if (!parse("both", "both", references[i], &arena, &task, &err))
            fail_msg("'%s': %s", references[i], err.message);
    }
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    const struct task *task = NULL;
    assert_false(parse("both", "both", "void f(void) {} // both\n", &arena, &task, &err));
    assert_non_null(strstr(err.message, "the reference does not define 'both'"));
    assert_false(parse("both", "both", "void both(void) { '\"'; } /* \" */ real *restrict p;\n",
                       &arena, &task, &err));
    assert_non_null(strstr(err.message, "reference.c:1:40: the reference has the word"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_parse__alias_is_given__arguments_share_a_buffer),
        cmocka_unit_test(task_buffers__some_are_shared__are_inout_with_the_draw_of_the_input),
        cmocka_unit_test(task_buffers__none_is_shared__is_the_task),
        cmocka_unit_test(task_parse__alias_is_changed__id_differs),
        cmocka_unit_test(task_parse__wrong_alias__says_where_and_how),
        cmocka_unit_test(task_parse__reference_says_restrict__is_refused),
        cmocka_unit_test(task_parse__restrict_is_no_code__is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

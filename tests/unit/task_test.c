/* Good tasks: what is read, defaults, expressions, sizes, signature, identity, template, examples.
 */
#include "task/task.h"

#include "base/buf.h"
#include "base/str.h"
#include "os/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

static const char full_yaml[] =
    "# everything that a task can say\n"
    "name: blend\n"
    "entry: blend_rows\n"
    "family: elementwise\n"
    "level: L1\n"
    "summary: 'a: weighted'\n"
    "dtype: float64\n"
    "axes: [rows, {name: cols, min: 2}, {name: pad, min: 0}]\n"
    "attrs:\n"
    "  - {name: alpha, type: real, value: 0.25}\n"
    "  - {name: lag, type: int, value: -3}\n"
    "args:\n"
    "  - {name: x, role: in, shape: [rows, cols + 2 * pad], draw: {kind: uniform, low: -1, high: "
    "2}}\n"
    "  - {name: mask, role: in, dtype: bool, shape: [\"max(rows, cols)\"]}\n"
    "  - {name: state, role: inout, dtype: float32, shape: [], draw: {kind: constant, value: 3}}\n"
    "  - {name: y, role: out, dtype: int32, shape: [\"ceildiv(cols, 4)\", rows]}\n"
    "flops: alpha * rows * cols / 2\n"
    "bytes: rows\n"
    "precision: strict\n"
    "finite_only: true\n"
    "threads: 4\n"
    "cases:\n"
    "  - {rows: 3, cols: 5, pad: 0}\n"
    "  - {rows: 4, cols: 8, pad: 1, weight: 2.5, name: padded}\n"
    "held_out:\n"
    "  - {rows: 7, cols: 9, pad: 2}\n"
    "reference: blend.c\n";
static const char full_reference[] = "void blend_rows(void) {}\n";

static const struct task *parse(const char *yaml, const char *reference, struct arena *arena)
{
    struct err err = {0};
    const struct task *task = NULL;
    if (!task_parse(yaml, strlen(yaml), reference, "dir", arena, &task, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return task;
}

static void task_parse__everything_is_given__everything_is_read(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *t = parse(full_yaml, full_reference, &arena);
    (void)state;
    assert_string_equal(t->name, "blend");
    assert_string_equal(t->entry, "blend_rows");
    assert_string_equal(t->family, "elementwise");
    assert_string_equal(t->level, "L1");
    assert_string_equal(t->summary, "a: weighted");
    assert_string_equal(t->reference_path, "dir/blend.c");
    assert_string_equal(t->reference, full_reference);
    assert_int_equal(t->dtype, DTYPE_F64);
    assert_int_equal(t->precision, PRECISION_STRICT);
    assert_false(t->allow_reassociate);
    assert_true(t->finite_only);
    assert_int_equal(t->threads, 4);
    assert_int_equal(t->axis_count, 3);
    assert_int_equal(t->axes[1].minimum, 2);
    assert_int_equal(t->attr_count, 2);
    assert_true(t->attrs[0].real == 0.25);
    assert_int_equal(t->attrs[1].integer, -3);
    assert_int_equal(t->case_count, 3);
    assert_string_equal(t->cases[0].name, "rows=3 cols=5 pad=0");
    assert_string_equal(t->cases[1].name, "padded");
    assert_true(t->cases[1].weight == 2.5);
    assert_false(t->cases[1].held_out);
    assert_true(t->cases[2].held_out);
    assert_int_equal(t->cases[2].axes[1], 9);
}

static void task_parse__arguments__have_dtype_role_shape_and_draw(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *t = parse(full_yaml, full_reference, &arena);
    (void)state;
    assert_int_equal(t->arg_count, 4);
    assert_true(t->args[0].is_real);
    assert_int_equal(t->args[0].dtype, DTYPE_F64);
    assert_int_equal(t->args[0].draw.kind, DRAW_UNIFORM);
    assert_true(t->args[0].draw.a == -1.0 && t->args[0].draw.b == 2.0);
    assert_string_equal(t->args[0].shape_text[1], "cols + 2 * pad");
    assert_int_equal(t->args[1].dtype, DTYPE_BOOL);
    assert_int_equal(t->args[1].draw.kind, DRAW_INTEGER);
    assert_int_equal(t->args[2].role, ARG_INOUT);
    assert_int_equal(t->args[2].rank, 0);
    assert_true(t->args[2].draw.a == 3.0 && t->args[2].draw.b == 3.0);
    assert_false(t->args[2].is_real);
    assert_int_equal(t->args[3].role, ARG_OUT);
    assert_int_equal(t->args[3].dtype, DTYPE_I32);
}

static void task_sizes__of_a_case__are_elements_bytes_and_costs(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *t = parse(full_yaml, full_reference, &arena);
    const struct task_case *c = &t->cases[1]; /* rows 4, cols 8, pad 1 */
    (void)state;
    assert_int_equal(task_arg_elements(t, 0, c), 40);
    assert_int_equal(task_arg_bytes(t, 0, c), 320);
    assert_int_equal(task_arg_bytes(t, 1, c), 8);
    assert_int_equal(task_arg_elements(t, 2, c), 1);
    assert_int_equal(task_arg_bytes(t, 2, c), 4);
    assert_int_equal(task_arg_elements(t, 3, c), 8);
    assert_true(task_flops(t, c) == 4.0);
    assert_true(task_bytes(t, c) == 4.0);
    assert_string_equal(task_case_regime(t, c), "tiny");
}

static void task_signature__in_any_real__is_a_c_declaration(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *t = parse(full_yaml, full_reference, &arena);
    (void)state;
    assert_string_equal(task_signature(t, "double", &arena),
                        "void blend_rows(const double *x, const bool *mask, float *state, "
                        "int32_t *y, double alpha, int64_t lag, int64_t rows, int64_t cols, "
                        "int64_t pad)");
}

/* A task of one output whose shape is `expr`, over n = 7 and the attribute k = 3. */
static const struct task *parse_shape(const char *expr, struct arena *arena)
{
    const char *yaml = arena_printf(arena,
                                    "name: f\n"
                                    "dtype: float32\n"
                                    "axes: [n]\n"
                                    "attrs: [{name: k, type: int, value: 3}]\n"
                                    "args: [{name: y, role: out, shape: ['%s']}]\n"
                                    "flops: '%s'\n"
                                    "cases: [{n: 7}]\n"
                                    "held_out: [{n: 8}]\n",
                                    expr, expr);
    return parse(yaml, "f", arena);
}

static void task_expressions__every_operator__has_its_value(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
        double real; /* as flops, where / is exact */
    } rows[] = {
        {"n", 7, 7},
        {"12", 12, 12},
        {"n + 2 * k", 13, 13},
        {"(n + 2) * k", 27, 27},
        {"n - k - 1", 3, 3},
        {"n - (k - 1)", 5, 5},
        {"n / k", 2, 7.0 / 3.0},
        {"8 / 2 / 2", 2, 2},
        {"n % k", 1, 1},
        {"-n + 10", 3, 3},
        {"- - n", 7, 7},
        {"-n / k + 10", 7, 10 - 7.0 / 3.0}, /* floor: -3 */
        {"(-n) % k", 2, 2},
        {"min(n, k)", 3, 3},
        {"max(n,k)*2", 14, 14},
        {"ceildiv(n, k)", 3, 3},
        {"ceildiv(6, k)", 2, 2},
        {"ceildiv(-n, k) + 5", 3, 3},
        {"min(max(n, 9), 8)", 8, 8},
        {" ( n ) ", 7, 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct task *t = parse_shape(rows[i].text, &arena);
        const double flops = task_flops(t, &t->cases[0]);
        if (task_arg_elements(t, 0, &t->cases[0]) != rows[i].value ||
            flops < rows[i].real - 1e-12 || flops > rows[i].real + 1e-12)
            fail_msg("'%s' is %lld and %g", rows[i].text,
                     (long long)task_arg_elements(t, 0, &t->cases[0]), flops);
    }
}

static void task_parse__little_is_given__the_rest_has_defaults(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *t = parse_shape("n", &arena);
    (void)state;
    assert_string_equal(t->entry, "f");
    assert_string_equal(t->family, "other");
    assert_string_equal(t->level, "");
    assert_string_equal(t->summary, "");
    assert_string_equal(t->reference_path, "dir/reference.c");
    assert_int_equal(t->precision, PRECISION_NORMAL);
    assert_true(t->allow_reassociate);
    assert_false(t->finite_only);
    assert_int_equal(t->threads, 1);
    assert_int_equal(t->axes[0].minimum, 1);
    assert_true(t->cases[0].weight == 1.0);
    assert_true(t->args[0].is_real);
    assert_null(t->bytes);
    assert_true(task_bytes(t, &t->cases[0]) == 28.0);
}

static void task_case_regime__by_bytes__has_four_names(void **state)
{
    static const struct {
        const char *elements, *regime;
    } rows[] = {{"4095 + 0 * n", "tiny"}, {"4096", "small"},     {"65535", "small"},
                {"65536", "medium"},      {"2097151", "medium"}, {"2097152", "large"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct task *t = parse_shape(rows[i].elements, &arena);
        assert_string_equal(task_case_regime(t, &t->cases[0]), rows[i].regime);
    }
}

/* The full task with one edit. */
static struct hash_id id_of(const char *find, const char *replace, const char *reference)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf yaml = {0};
    const char *at = strstr(full_yaml, find);
    assert_non_null(at);
    (void)buf_append(&yaml, full_yaml, (size_t)(at - full_yaml));
    (void)buf_append_str(&yaml, replace);
    (void)buf_append_str(&yaml, at + strlen(find));
    return parse(buf_text(&yaml), reference, &arena)->id;
}

static void task_id__what_decides_a_verdict__changes_it(void **state)
{
    static const char *const edits[][2] = {
        {"rows: 3", "rows: 2"},
        {"weight: 2.5", "weight: 2"},
        {"low: -1", "low: -2"},
        {"precision: strict", "precision: normal"},
        {"min: 2", "min: 3"},
        {"value: 0.25", "value: 0.5"},
        {"threads: 4", "threads: 2"},
        {"finite_only: true", "finite_only: false"},
        {"cols + 2 * pad", "cols + pad"},
        {"bytes: rows", "bytes: cols"},
        {"role: inout", "role: in"},
        {"rows: 7", "rows: 8"},
        {"threads: 4", "threads: 4\nspecial: [{x: 1}]"},
    };
    const struct hash_id base = id_of("L1", "L1", full_reference);
    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const struct hash_id id = id_of(edits[i][0], edits[i][1], full_reference);
        if (str_equal(id.text, base.text))
            fail_msg("'%s' does not change the id", edits[i][1]);
    }
    const struct hash_id other = id_of("L1", "L1", "void blend_rows(void) { }\n");
    assert_string_not_equal(other.text, base.text);
}

static void task_id__what_only_people_see__keeps_it(void **state)
{
    static const char *const edits[][2] = {
        {"# everything that", "# not everything that"},
        {"level: L1", "level: L2"},
        {"summary: 'a: weighted'\n", ""},
        {"family: elementwise", "family: \"other\""},
        {"cols + 2 * pad", "(cols+(2*pad))"},
        {"{rows: 3, cols: 5, pad: 0}", "{pad: 0, cols: 5, rows: 3, weight: 1}"},
        {"precision: strict", "precision: strict\nreassociate: false"},
        {"threads: 4", "threads: 4 # four"},
    };
    const struct hash_id base = id_of("L1", "L1", full_reference);
    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        assert_string_equal(id_of(edits[i][0], edits[i][1], full_reference).text, base.text);
}

static void task_write_template__a_new_folder__loads(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = NULL;
    struct err err = {0};
    char *temp = NULL;
    (void)state;
    assert_true(os_make_temp_dir("task-test", &arena, &temp, &err));
    const char *dir = os_path_join(&arena, temp, "deep/er");
    if (!task_write_template(dir, "my_kernel", &err) || !task_load(dir, &arena, &task, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    assert_string_equal(task->name, "my_kernel");
    assert_string_equal(task_signature(task, "float", &arena),
                        "void my_kernel(const float *a, const float *x, float *y, float scale, "
                        "int64_t m, int64_t n)");
    assert_int_equal(task->case_count, 4);
    assert_non_null(strstr(task->reference, "void my_kernel(const real *a,"));
    assert_null(strstr(task->reference, "@"));

    assert_true(task_load(os_path_join(&arena, dir, "task.yaml"), &arena, &task, &err));
    assert_false(task_write_template(dir, "my_kernel", &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    const char *other = os_path_join(&arena, temp, "other");
    assert_false(task_write_template(other, "while", &err));
    assert_false(task_write_template(other, "no-name", &err));
    assert_false(os_path_exists(other));
    assert_true(os_remove_tree(temp, &err));
}

/* A hostile folder could point at any file of this account, whose text a model would be shown. */
static void task_load__reference_is_a_link__refused(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = NULL;
    struct err err = {0};
    char *temp = NULL;
    (void)state;
    const char *example = KOPE_SOURCE_DIR "/examples/sum";
    assert_true(os_make_temp_dir("task-test", &arena, &temp, &err));
    const char *yaml = os_path_join(&arena, temp, "task.yaml");
    const char *link = os_path_join(&arena, temp, "reference.c");
    char *text = NULL;
    assert_true(
        os_read_file(os_path_join(&arena, example, "task.yaml"), 65536, &arena, &text, NULL, &err));
    assert_true(os_write_file(yaml, text, strlen(text), false, &err));
    assert_int_equal(symlink(os_path_join(&arena, example, "reference.c"), link), 0);
    assert_false(task_load(temp, &arena, &task, &err));
    assert_non_null(strstr(err.message, "is a link"));
    assert_true(os_remove_tree(temp, &err));
}

static void task_load__something_is_missing__says_what(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = NULL;
    struct err err = {0};
    char *temp = NULL;
    (void)state;
    assert_true(os_make_temp_dir("task-test", &arena, &temp, &err));
    assert_false(task_load(os_path_join(&arena, temp, "none"), &arena, &task, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_false(task_load(temp, &arena, &task, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);

    const char *yaml = os_path_join(&arena, temp, "task.yaml");
    const char *reference = os_path_join(&arena, temp, "blend.c");
    assert_true(os_write_file(yaml, full_yaml, strlen(full_yaml), false, &err));
    assert_false(task_load(temp, &arena, &task, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_non_null(strstr(err.message, "task.yaml:27:12: the reference 'blend.c' does not exist"));
    assert_true(os_write_file(reference, "blend_rows\0x", 12, false, &err));
    assert_false(task_load(temp, &arena, &task, &err));
    assert_non_null(strstr(err.message, "holds a NUL byte"));
    assert_true(os_write_file(reference, full_reference, strlen(full_reference), false, &err));
    assert_true(task_load(temp, &arena, &task, &err));
    assert_true(os_remove_tree(temp, &err));
}

static void check_example(const char *name)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = NULL;
    struct err err = {0};
    size_t held_out = 0;
    const char *dir = os_path_join(&arena, KOPE_SOURCE_DIR "/examples", name);
    if (!task_load(dir, &arena, &task, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    assert_string_equal(task->name, name);
    assert_true(task->summary[0] != '\0');
    for (size_t i = 0; i < task->case_count; i++) {
        held_out += task->cases[i].held_out;
        size_t bytes = 0;
        for (size_t arg = 0; arg < task->arg_count; arg++)
            bytes += task_arg_bytes(task, arg, &task->cases[i]);
        assert_true(bytes < (size_t)64 << 20);
    }
    assert_true(held_out >= 2);
    assert_true(task->case_count - held_out >= 4);
    /* The reference declares what the task does, up to line breaks. */
    const char *declared = task_signature(task, "real", &arena);
    CLEANUP(buf_free) struct buf flat = {0};
    for (const char *at = task->reference; *at; at++) {
        const bool blank = *at == ' ' || *at == '\n';
        const size_t n = flat.length;
        if (!blank)
            (void)buf_append_char(&flat, *at);
        else if (n != 0 && flat.data[n - 1] != ' ')
            (void)buf_append_char(&flat, ' ');
    }
    if (!strstr(buf_text(&flat), declared))
        fail_msg("%s: the reference has no '%s'", name, declared);
}

static void task_load__every_example__is_sound(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    char **names = NULL;
    size_t count = 0;
    size_t tasks = 0;
    (void)state;
    assert_true(os_list_dir(KOPE_SOURCE_DIR "/examples", &arena, &names, &count, &err));
    for (size_t i = 0; i < count; i++) {
        if (!os_path_is_dir(os_path_join(&arena, KOPE_SOURCE_DIR "/examples", names[i])))
            continue;
        check_example(names[i]);
        tasks++;
    }
    assert_true(tasks >= 12);
}

static void dtype_tables__every_dtype__is_described(void **state)
{
    (void)state;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        assert_non_null(dtype_name((enum dtype)i));
        assert_non_null(dtype_c_name((enum dtype)i));
        assert_true(dtype_bytes((enum dtype)i) >= 1);
    }
    assert_true(dtype_is_float(DTYPE_F32) && !dtype_is_float(DTYPE_I64));
    assert_string_equal(dtype_c_name(DTYPE_I64), "int64_t");
    assert_string_equal(precision_class_name(PRECISION_RELAXED), "relaxed");
    assert_true(precision_class_factor(PRECISION_EXACT) == 0.0);
    assert_true(precision_class_factor(PRECISION_NORMAL) == 8.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_parse__everything_is_given__everything_is_read),
        cmocka_unit_test(task_parse__arguments__have_dtype_role_shape_and_draw),
        cmocka_unit_test(task_sizes__of_a_case__are_elements_bytes_and_costs),
        cmocka_unit_test(task_signature__in_any_real__is_a_c_declaration),
        cmocka_unit_test(task_expressions__every_operator__has_its_value),
        cmocka_unit_test(task_parse__little_is_given__the_rest_has_defaults),
        cmocka_unit_test(task_case_regime__by_bytes__has_four_names),
        cmocka_unit_test(task_id__what_decides_a_verdict__changes_it),
        cmocka_unit_test(task_id__what_only_people_see__keeps_it),
        cmocka_unit_test(task_write_template__a_new_folder__loads),
        cmocka_unit_test(task_load__something_is_missing__says_what),
        cmocka_unit_test(task_load__reference_is_a_link__refused),
        cmocka_unit_test(task_load__every_example__is_sound),
        cmocka_unit_test(dtype_tables__every_dtype__is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

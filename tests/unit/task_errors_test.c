/* Every mistake in a task.yaml: the exact message with line and column, and the hint. */
#include "base/buf.h"
#include "base/str.h"
#include "task/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const char good_yaml[] = "name: scale\n"
                                "family: elementwise\n"
                                "dtype: float32\n"
                                "axes: [m, {name: n, min: 2}]\n"
                                "attrs: [{name: alpha, type: real, value: 2}, "
                                "{name: lag, type: int, value: 3}]\n"
                                "args:\n"
                                "  - {name: x, role: in, shape: [m, n]}\n"
                                "  - {name: y, role: out, shape: [m, n]}\n"
                                "flops: m * n\n"
                                "precision: normal\n"
                                "cases:\n"
                                "  - {m: 4, n: 8}\n"
                                "  - {m: 7, n: 5, weight: 2, name: odd}\n"
                                "held_out:\n"
                                "  - {m: 3, n: 9}\n";
static const char good_reference[] = "void scale(void) {}\n";

/* One edit of the good task, and what must be said about it. */
struct mistake {
    const char *find, *replace;
    const char *message, *hint; /* NULL: any hint */
};

static void parse_mistake(const struct mistake *mistake, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf yaml = {0};
    const struct task *task = NULL;
    const char *at = strstr(good_yaml, mistake->find);
    assert_non_null(at);
    (void)buf_append(&yaml, good_yaml, (size_t)(at - good_yaml));
    (void)buf_append_str(&yaml, mistake->replace);
    (void)buf_append_str(&yaml, at + strlen(mistake->find));
    if (task_parse(yaml.data, yaml.length, good_reference, "", &arena, &task, err))
        fail_msg("accepted: '%s'", mistake->replace);
    assert_null(task);
}

static void check_mistakes(const struct mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        parse_mistake(&mistakes[i], &err);
        assert_int_equal(err.kind, ERR_BAD_INPUT);
        assert_string_equal(err.message, mistakes[i].message);
        if (mistakes[i].hint)
            assert_string_equal(err.hint, mistakes[i].hint);
    }
}

#define CHECK(mistakes) check_mistakes(mistakes, sizeof(mistakes) / sizeof *(mistakes))

static void task_parse__wrong_keys__say_where_and_how(void **state)
{
    static const struct mistake mistakes[] = {
        {"family: elementwise", "famly: elementwise", "task.yaml:2:1: unknown key 'famly'",
         "did you mean 'family'?"},
        {"precision: normal", "colour: blue", "task.yaml:10:1: unknown key 'colour'",
         "allowed here: 'name', 'entry', 'family', 'level', 'summary', 'dtype', "
         "'accumulate', 'axes', 'attrs', 'args', 'flops', 'bytes', 'precision', 'reassociate', "
         "'finite_only', 'special', 'threads', 'cases', 'held_out', 'reference'"},
        {"name: scale\n", "", "task.yaml:1:1: 'name' is missing", ""},
        {"dtype: float32\n", "", "task.yaml:1:1: 'dtype' is missing", ""},
        {"axes: [m, {name: n, min: 2}]\n", "", "task.yaml:1:1: 'axes' is missing",
         "name the sizes that a case chooses: axes: [m, n]"},
        {"role: in, shape: [m, n]", "role: in", "task.yaml:7:5: 'shape' is missing",
         "such as shape: [m, n], or [] for one element"},
        {"role: in,", "", "task.yaml:7:5: 'role' is missing", ""},
        {"{name: x, role: in, shape: [m, n]}", "{name: x, rule: in, shape: [m, n]}",
         "task.yaml:7:15: unknown key 'rule'", "did you mean 'role'?"},
        {"{name: x, role: in, shape: [m, n]}", "x",
         "task.yaml:7:5: each item of 'args' must be a mapping of keys to values", ""},
        {"name: n, min: 2", "name: n, mim: 2", "task.yaml:4:21: unknown key 'mim'",
         "did you mean 'min'?"},
        {"m: 4, n: 8", "m: 4, n: 8, wieght: 2", "task.yaml:12:18: unknown key 'wieght'",
         "did you mean 'weight'?"},
        {"family: elementwise", "family: elementwise\nfamily: other",
         "task.yaml:3:1: this key is there twice", "remove one of the two 'family'"},
        {"family: elementwise", "family: \"two\\nlines\"",
         "task.yaml:2:9: 'family' must be one line of text", ""},
    };
    (void)state;
    CHECK(mistakes);
}

static void task_parse__wrong_situations__say_where_and_how(void **state)
{
    static const struct mistake mistakes[] = {
        {"precision: normal", "special: nan",
         "task.yaml:10:10: 'special' must be a list with at least one item", NULL},
        {"precision: normal", "special: [{z: nan}]", "task.yaml:10:12: unknown key 'z'",
         "did you mean 'x'?"},
        {"precision: normal", "special: [{y: nan}]", "task.yaml:10:11: no input is special here",
         "say what an input holds: special: [{x: -inf, y: 0}]"},
        {"precision: normal", "special: [{x: huge}]",
         "task.yaml:10:15: 'huge' is nothing that 'x' can hold", NULL},
        {"precision: normal", "special: [{x: \"1\"}]",
         "task.yaml:10:15: '' is nothing that 'x' can hold", NULL},
        {"precision: normal", "special: [{x: finite}]",
         "task.yaml:10:15: 'finite' is nothing that 'x' can hold", NULL},
        {"precision: normal", "special: [{x: one}]",
         "task.yaml:10:15: 'one' is nothing that 'x' can hold", NULL},
        {"precision: normal", "special: [{x: 1, y: one nan}]",
         "task.yaml:10:21: 'one nan' is nothing that 'y' can hold",
         "a number, nan, inf, -inf or finite"},
        {"precision: normal", "special: [{x: 1e39}]",
         "task.yaml:10:15: values that 'float32' cannot hold", NULL},
        {"precision: normal", "special: [{x: 1, y: {kind: constant, value: 1}}]",
         "task.yaml:10:21: 'draw' of 'y', whose role is out", NULL},
        {"precision: normal", "finite_only: true\nspecial: [{x: nan}]",
         "task.yaml:11:15: 'x' is not finite, but the task is finite_only", NULL},
    };
    (void)state;
    CHECK(mistakes);
}

static void task_parse__wrong_values__say_where_and_how(void **state)
{
    static const struct mistake mistakes[] = {
        {"dtype: float32", "dtype: float23", "task.yaml:3:8: 'float23' is no value of 'dtype'",
         "did you mean 'float32'?"},
        {"dtype: float32", "dtype: half", "task.yaml:3:8: 'half' is no value of 'dtype'",
         "one of: float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, bool"},
        {"dtype: float32", "dtype: int32", "task.yaml:5:29: a real attribute in a task of int32",
         "make it type: int; or the task dtype: float32, with args of dtype: int32"},
        {"dtype: float32", "dtype: float16\naccumulate: float16",
         "task.yaml:4:13: a task of float16 does not accumulate in float16",
         "use accumulate: float32"},
        {"dtype: float32", "dtype: bfloat16\naccumulate: float64",
         "task.yaml:4:13: a task of bfloat16 does not accumulate in float64",
         "use accumulate: float32"},
        {"dtype: float32", "dtype: float32\naccumulate: int32",
         "task.yaml:4:13: a task of float32 does not accumulate in int32",
         "use accumulate: float32 or float64"},
        {"dtype: float32", "dtype: int8\naccumulate: float32",
         "task.yaml:4:13: a task of int8 does not accumulate in float32",
         "use accumulate: int32 or int64"},
        {"dtype: float32", "dtype: float32\naccumulate: much",
         "task.yaml:4:13: 'much' is no value of 'accumulate'", NULL},
        {"dtype: float32", "dtype: [float32]", "task.yaml:3:8: 'dtype' must be one value", ""},
        {"precision: normal", "precision: norml",
         "task.yaml:10:12: 'norml' is no value of 'precision'", "did you mean 'normal'?"},
        {"precision: normal", "precision: banana",
         "task.yaml:10:12: 'banana' is no value of 'precision'",
         "one of: exact, strict, normal, relaxed"},
        {"role: in,", "role: output,", "task.yaml:7:21: 'output' is no value of 'role'",
         "did you mean 'out'?"},
        {"role: in,", "role: in, dtype: half,", "task.yaml:7:32: 'half' is no value of 'dtype'",
         "one of: real, float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, "
         "bool"},
        {"precision: normal", "threads: many",
         "task.yaml:10:10: 'threads' must be a whole number, not 'many'", ""},
        {"precision: normal", "threads: 0",
         "task.yaml:10:10: 'threads' must be from 1 to 256, not 0", ""},
        {"precision: normal", "reassociate: yes",
         "task.yaml:10:14: 'reassociate' must be true or false, not 'yes'",
         "write true or false, without quotes"},
        {"m: 4,", "m: four,", "task.yaml:12:9: 'm' must be a whole number, not 'four'", ""},
        {"m: 4,", "m: 4.5,", "task.yaml:12:9: 'm' must be a whole number, not '4.5'", ""},
        {"weight: 2", "weight: 0",
         "task.yaml:13:26: 'weight' must be greater than 0 and at most 1000000", ""},
        {"weight: 2", "weight: .inf", "task.yaml:13:26: 'weight' must be a number, not '.inf'", ""},
        {"type: real, value: 2", "type: int, value: 2.5",
         "task.yaml:5:41: 'value' must be a whole number, not '2.5'", ""},
        {"type: real, value: 2", "type: complex, value: 2",
         "task.yaml:5:29: 'complex' is no value of 'type'", "one of: real, int"},
        {"type: real, value: 2", "type: real", "task.yaml:5:9: 'value' is missing", ""},
        {"axes: [m, {name: n, min: 2}]", "axes: m",
         "task.yaml:4:7: 'axes' must be a list with at least one item",
         "name the sizes that a case chooses: axes: [m, n]"},
        {"attrs: [", "attrs: 4 #", "task.yaml:5:8: 'attrs' must be a list", ""},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m, n], ld: lda",
         "task.yaml:7:44: 'ld' is 'lda', which is no axis",
         "name one: axes: [m, n, lda], and ld: lda"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [n], ld: n",
         "task.yaml:7:41: 'ld' is the distance between rows, and 'x' has no rows", NULL},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m, n], ld: m",
         "task.yaml:12:5: case 'm=4 n=8': 'm' is 4, less than a row of 'x', which has 8 elements",
         NULL},
        {"shape: [m, n]}\n  - {name: y", "shape: m}\n  - {name: y",
         "task.yaml:7:32: 'shape' must be a list", "such as shape: [m, n], or [] for one element"},
        {"min: 2", "min: 2, max: 1", "task.yaml:4:34: 'max' is less than 'min'", ""},
        {"min: 2", "min: 2, max: 0", "task.yaml:4:34: 'max' must be from 1 to 1099511627776, not 0",
         ""},
        {"min: 2", "min: 9, max: 15, multiple: 8",
         "task.yaml:4:48: no multiple of 8 lies from 'min' to 'max'",
         "give a range that holds one, or leave 'multiple' out"},
        {"min: 2", "multiple: 0",
         "task.yaml:4:31: 'multiple' must be from 1 to 1099511627776, not 0", ""},
        {"min: 2", "min: 2, multiple: 4", "task.yaml:13:15: 'n' must be a multiple of 4, not 5",
         ""},
        {"min: 2", "max: 6", "task.yaml:12:15: 'n' must be from 1 to 6, not 8", ""},
        {"min: 2", "min: 2, most: 6", "task.yaml:4:29: unknown key 'most'", NULL},
        {"min: 2", "min: -1", "task.yaml:4:26: 'min' must be from 0 to 1099511627776, not -1", ""},
        {"precision: normal", "reference: ../secret.c",
         "task.yaml:10:12: '../secret.c' is no file beside task.yaml",
         "give a file name without a folder, such as reference.c"},
        {"precision: normal", "reference: .hidden",
         "task.yaml:10:12: '.hidden' is no file beside task.yaml",
         "give a file name without a folder, such as reference.c"},
    };
    (void)state;
    CHECK(mistakes);
}

static void task_parse__wrong_names__say_where_and_how(void **state)
{
    static const struct mistake mistakes[] = {
        {"name: scale", "name: 2scale", "task.yaml:1:7: '2scale' cannot be the name of a task",
         "use letters, digits and underscore, not beginning with a digit"},
        {"name: scale", "name: scale-rows",
         "task.yaml:1:7: 'scale-rows' cannot be the name of a task",
         "use letters, digits and underscore, not beginning with a digit"},
        {"name: scale", "name: sqrt",
         "task.yaml:1:7: the entry point 'sqrt' is a function of the C library",
         "set entry: sqrt_kernel"},
        {"name: scale", "name: expf",
         "task.yaml:1:7: the entry point 'expf' is a function of the C library",
         "set entry: expf_kernel"},
        {"name: scale", "name: scale\nentry: memcpy",
         "task.yaml:2:8: the entry point 'memcpy' is a function of the C library",
         "set entry: memcpy_kernel"},
        {"name: scale", "name: scale\nentry: other",
         "task.yaml:2:8: the reference does not define 'other'",
         "it should: void other(const real *x, real *y, real alpha, int64_t lag, int64_t m, "
         "int64_t n)"},
        {"[m, {", "[m, m, {", "task.yaml:4:11: 'm' is already the name of an axis",
         "entry point, axes, attributes and arguments stand in one C declaration: each needs a "
         "name of its own"},
        {"[m, {", "[int, {", "task.yaml:4:8: 'int' is reserved and cannot be the name of an axis",
         "choose another name, such as 'int_'"},
        {"[m, {", "[real, {", "task.yaml:4:8: 'real' is reserved and cannot be the name of an axis",
         "choose another name, such as 'real_'"},
        {"[m, {", "[_m, {", "task.yaml:4:8: '_m' is reserved and cannot be the name of an axis",
         "choose another name, such as 'm_'"},
        {"[m, {", "[kope_m, {",
         "task.yaml:4:8: 'kope_m' is reserved and cannot be the name of an axis",
         "choose another name, such as 'kope_m_'"},
        {"[m, {", "[\"m n\", {", "task.yaml:4:8: 'm n' cannot be the name of an axis",
         "use letters, digits and underscore, not beginning with a digit, at most 63"},
        {"[m, {", "[weight, {",
         "task.yaml:4:8: 'weight' is reserved and cannot be the name of an axis",
         "a case says 'weight: ...' about itself, next to its axes"},
        {"name: x,", "name: m,", "task.yaml:7:12: 'm' is already the name of an axis",
         "entry point, axes, attributes and arguments stand in one C declaration: each needs a "
         "name of its own"},
        {"name: x,", "name: alpha,", "task.yaml:7:12: 'alpha' is already the name of an attribute",
         "entry point, axes, attributes and arguments stand in one C declaration: each needs a "
         "name of its own"},
        {"name: x,", "name: y,", "task.yaml:8:12: 'y' is already the name of an argument",
         "entry point, axes, attributes and arguments stand in one C declaration: each needs a "
         "name of its own"},
        {"name: x,", "name: scale,",
         "task.yaml:7:12: 'scale' is already the name of the entry point",
         "entry point, axes, attributes and arguments stand in one C declaration: each needs a "
         "name of its own"},
        {"name: x,", "name: restrict,",
         "task.yaml:7:12: 'restrict' is reserved and cannot be the name of an argument",
         "choose another name, such as 'restrict_'"},
        {"name: x,", "name: I,",
         "task.yaml:7:12: 'I' is reserved and cannot be the name of an argument",
         "choose another name, such as 'I_'"},
        {"name: alpha", "name: m", "task.yaml:5:16: 'm' is already the name of an axis",
         "entry point, axes, attributes and arguments stand in one C declaration: each needs a "
         "name of its own"},
    };
    (void)state;
    CHECK(mistakes);
}

static void task_parse__wrong_draws__say_where_and_how(void **state)
{
    static const struct mistake mistakes[] = {
        {"role: in,", "role: in, draw: normal,", "task.yaml:7:31: 'draw' must be a mapping",
         "such as {kind: normal, mean: 0, deviation: 1}"},
        {"role: in,", "role: in, draw: {kind: gauss},",
         "task.yaml:7:38: 'gauss' is no value of 'kind'",
         "one of: normal, uniform, integer, constant"},
        {"role: in,", "role: in, draw: {kind: normal, low: 1},",
         "task.yaml:7:46: unknown key 'low'", "allowed here: 'kind', 'mean', 'deviation'"},
        {"role: in,", "role: in, draw: {kind: uniform, low: 1},",
         "task.yaml:7:31: 'high' is missing", ""},
        {"role: in,", "role: in, draw: {kind: uniform, low: 1, high: 1},",
         "task.yaml:7:31: 'low' must be less than 'high'", ""},
        {"role: in,", "role: in, draw: {kind: normal, deviation: 0},",
         "task.yaml:7:31: 'deviation' must be greater than 0", ""},
        {"role: in,", "role: in, draw: {kind: integer, low: 0.5, high: 2},",
         "task.yaml:7:31: 'integer' needs whole numbers here", ""},
        {"role: in,", "role: in, dtype: int32, draw: {kind: normal},",
         "task.yaml:7:45: 'normal' draws fractions for the dtype 'int32'",
         "use {kind: integer, low: 0, high: 100}"},
        {"role: in,", "role: in, dtype: uint8, draw: {kind: integer, low: -1, high: 2},",
         "task.yaml:7:45: values that 'uint8' cannot hold", ""},
        {"role: in,", "role: in, dtype: bool, draw: {kind: constant, value: 2},",
         "task.yaml:7:44: values that 'bool' cannot hold", ""},
        {"role: in,", "role: in, draw: {kind: constant, value: 1e300},",
         "task.yaml:7:31: values that 'float32' cannot hold", ""},
        {"role: out,", "role: out, draw: {kind: normal},",
         "task.yaml:8:32: 'draw' of 'y', whose role is out",
         "an output starts as poison; use role: inout if it is read"},
    };
    (void)state;
    CHECK(mistakes);
}

static void task_parse__wrong_expressions__say_where_and_how(void **state)
{
    static const struct mistake mistakes[] = {
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m, nn]",
         "task.yaml:7:36: in 'nn': unknown name 'nn'", "did you mean 'n'?"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m, rows]",
         "task.yaml:7:36: in 'rows': unknown name 'rows'",
         "declare it under axes or attrs; there are: m, n, alpha, lag, min, max, ceildiv"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m, alpha]",
         "task.yaml:7:36: in 'alpha': the real attribute 'alpha'",
         "a shape is made of integers: use axes and attributes of type int"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m +]",
         "task.yaml:7:36: in 'm +': it ends where a number or a name should be",
         "in a list [ ] an expression with a comma needs quotes: [\"max(m, n)\"]"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m n]",
         "task.yaml:7:35: in 'm n': 'n' where an operator should be",
         "allowed: integers, names, + - * / % ( ), min(a, b), max(a, b), ceildiv(a, b)"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [(m]",
         "task.yaml:7:35: in '(m': it ends where ')' should be",
         "in a list [ ] an expression with a comma needs quotes: [\"max(m, n)\"]"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m)]",
         "task.yaml:7:34: in 'm)': ')' where an operator should be",
         "allowed: integers, names, + - * / % ( ), min(a, b), max(a, b), ceildiv(a, b)"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [max(m, n)]",
         "task.yaml:7:38: in 'max(m': it ends where ',' should be",
         "in a list [ ] an expression with a comma needs quotes: [\"max(m, n)\"]"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [\"max(m n)\"]",
         "task.yaml:7:40: in 'max(m n)': 'n' where ',' should be",
         "allowed: integers, names, + - * / % ( ), min(a, b), max(a, b), ceildiv(a, b)"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [\"pow(m, n)\"]",
         "task.yaml:7:34: in 'pow(m, n)': unknown function 'pow'",
         "there are min(a, b), max(a, b) and ceildiv(a, b)"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [\"max(m, q)\"]",
         "task.yaml:7:41: in 'max(m, q)': unknown name 'q'",
         "declare it under axes or attrs; there are: m, n, alpha, lag, min, max, ceildiv"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [2.5 * m]",
         "task.yaml:7:33: in '2.5 * m': a number that is no integer",
         "only integers; write 5 * n / 2 for 2.5 * n"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m ^ 2]",
         "task.yaml:7:35: in 'm ^ 2': '^' where an operator should be",
         "allowed: integers, names, + - * / % ( ), min(a, b), max(a, b), ceildiv(a, b)"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [99999999999999999999]",
         "task.yaml:7:33: in '99999999999999999999': a number that does not fit in 64 bits", ""},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [[m], n]",
         "task.yaml:7:33: an expression must be one value, such as m * n", ""},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [\"\"]",
         "task.yaml:7:34: in '': it ends where a number or a name should be",
         "in a list [ ] an expression with a comma needs quotes: [\"max(m, n)\"]"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m / (n - 8)]",
         "task.yaml:12:5: case 'm=4 n=8': a division by zero in the shape 'm / (n - 8)' of 'x'",
         ""},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m % (n - 8)]",
         "task.yaml:12:5: case 'm=4 n=8': a division by zero in the shape 'm % (n - 8)' of 'x'",
         ""},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m - 4, n]",
         "task.yaml:12:5: case 'm=4 n=8': the shape 'm - 4' of 'x' is 0",
         "every dimension is at least 1"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m - 9, n]",
         "task.yaml:12:5: case 'm=4 n=8': the shape 'm - 9' of 'x' is -5",
         "every dimension is at least 1"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m * 9223372036854775807]",
         "task.yaml:12:5: case 'm=4 n=8': a value that does not fit in 64 bits in the shape 'm * "
         "9223372036854775807' of 'x'",
         ""},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m * 1000000000000, n * 1000000000000]",
         "task.yaml:12:5: case 'm=4 n=8': 'x' has too many elements", ""},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [m * 1000000, n * 100]",
         "task.yaml:12:5: case 'm=4 n=8': the buffers exceed 1024 MiB",
         "choose smaller axes: a case of a few milliseconds measures best"},
        {"x, role: in, shape: [m, n]", "x, role: in, shape: [1, 1, 1, 1, 1, 1, 1, 1, m]",
         "task.yaml:7:57: more than 8 dimensions", ""},
        {"flops: m * n", "flops: m * k", "task.yaml:9:12: in 'm * k': unknown name 'k'",
         "declare it under axes or attrs; there are: m, n, alpha, lag, min, max, ceildiv"},
        {"flops: m * n", "flops: m / (n - 8)",
         "task.yaml:12:5: case 'm=4 n=8': 'flops' has no finite value", "does it divide by zero?"},
        {"flops: m * n", "flops: m - 100", "task.yaml:12:5: case 'm=4 n=8': 'flops' is -96", ""},
        {"flops: m * n", "bytes: 9 * m * n",
         "task.yaml:12:5: case 'm=4 n=8': 'bytes' is 288, more than the buffers hold (256)",
         "give the least traffic: each input read once, each output written once; leave 'bytes' "
         "out for just that"},
        {"flops: m * n", "flops: ((((((((((((((((((((((((((((((((m))))))))))))))))))))))))))))))))",
         "task.yaml:9:40: in '((((((((((((((((((((((((((((((((m))))))))))))))))))))))))))))))))': "
         "more than 32 levels of nesting",
         ""},
    };
    (void)state;
    CHECK(mistakes);
}

static void task_parse__wrong_cases__say_where_and_how(void **state)
{
    static const struct mistake mistakes[] = {
        {"m: 4, n: 8", "m: 4", "task.yaml:12:5: a case without a value for the axis 'n'",
         "add 'n: ...' to it"},
        {"m: 4, n: 8", "m: 4, n: 1", "task.yaml:12:15: 'n' must be from 2 to 1099511627776, not 1",
         ""},
        {"m: 4, n: 8", "m: 4, n: 8, k: 2", "task.yaml:12:18: unknown key 'k'", "did you mean 'm'?"},
        {"m: 4, n: 8", "m: 0, n: 8", "task.yaml:12:9: 'm' must be from 1 to 1099511627776, not 0",
         ""},
        {"{m: 4, n: 8}", "4",
         "task.yaml:12:5: each item of 'cases' must be a mapping of keys to values", ""},
        {"{m: 4, n: 8}", "{m: 7, n: 5}",
         "task.yaml:13:5: case 'odd' has the same axes as an earlier case",
         "remove it, or change it"},
        {"{m: 4, n: 8}", "{m: 4, n: 8, name: odd}", "task.yaml:13:5: two cases are named 'odd'",
         "remove it, or change it"},
        {"{m: 3, n: 9}", "{m: 4, n: 8}",
         "task.yaml:15:5: case 'm=4 n=8' has the same axes as an earlier case",
         "a held-out shape must differ from every case"},
        {"{m: 4, n: 8}", "{m: 4, n: 8, name: \"\"}", "task.yaml:12:24: the name of a case is empty",
         ""},
        {"cases:\n  - {m: 4, n: 8}\n  - {m: 7, n: 5, weight: 2, name: odd}\n", "",
         "task.yaml:1:1: 'cases' is missing",
         "name the shapes that count: cases: [{m: 64, n: 100}, ...]"},
        {"cases:\n  - {m: 4, n: 8}\n  - {m: 7, n: 5, weight: 2, name: odd}\n", "cases: []\n",
         "task.yaml:11:8: 'cases' must be a list with at least one item",
         "name the shapes that count: cases: [{m: 64, n: 100}, ...]"},
        {"held_out:\n  - {m: 3, n: 9}\n", "", "task.yaml:1:1: 'held_out' is missing",
         "keep one or two shapes that differ from every case out of the search: held_out: [{m: 57, "
         "n: 101}]"},
        {"role: out", "role: in", "task.yaml:7:3: no argument is written",
         "give the result role: out, or inout if it is read too"},
        {"args:\n  - {name: x, role: in, shape: [m, n]}\n  - {name: y, role: out, shape: [m, n]}\n",
         "args: []\n", "task.yaml:6:7: 'args' must be a list with at least one item",
         "name the buffers: args: [{name: x, role: in, shape: [n]}, ...]"},
    };
    (void)state;
    CHECK(mistakes);
}

static void task_parse__nul_or_no_yaml__is_refused(void **state)
{
    static const char *const texts[] = {"", "x", "[a]", "a: b: c", "name: &x y"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct task *task = NULL;
        struct err err = {0};
        assert_false(task_parse(texts[i], strlen(texts[i]), "", "", &arena, &task, &err));
        assert_int_equal(err.kind, ERR_BAD_INPUT);
        assert_true(str_starts_with(err.message, "task.yaml:1:"));
        assert_null(task);
    }
}

static void task_parse__dir_is_given__stands_before_the_file(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = NULL;
    struct err err = {0};
    (void)state;
    assert_false(task_parse("name: 1", 7, "", "some/where", &arena, &task, &err));
    assert_true(str_starts_with(err.message, "some/where/task.yaml:1:7: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_parse__wrong_keys__say_where_and_how),
        cmocka_unit_test(task_parse__wrong_situations__say_where_and_how),
        cmocka_unit_test(task_parse__wrong_values__say_where_and_how),
        cmocka_unit_test(task_parse__wrong_names__say_where_and_how),
        cmocka_unit_test(task_parse__wrong_draws__say_where_and_how),
        cmocka_unit_test(task_parse__wrong_expressions__say_where_and_how),
        cmocka_unit_test(task_parse__wrong_cases__say_where_and_how),
        cmocka_unit_test(task_parse__nul_or_no_yaml__is_refused),
        cmocka_unit_test(task_parse__dir_is_given__stands_before_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

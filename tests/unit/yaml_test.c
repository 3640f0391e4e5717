#include "yaml/yaml.h"

#include "base/buf.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct yaml *parse(struct arena *arena, const char *text)
{
    const struct yaml *root = NULL;
    struct err err;
    if (!yaml_parse(text, strlen(text), "t.yaml", arena, &root, &err))
        fail_msg("%s", err.message);
    return root;
}

static void yaml_parse__block_and_flow__nodes_with_places(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct yaml *root = parse(&arena, "# comment\n"
                                            "name: gemm\n"
                                            "cases:\n"
                                            "  - {m: 1, n: \"2\"}\n"
                                            "  - [a, b]\n"
                                            "text: |\n"
                                            "  one\n"
                                            "  two\n");
    assert_int_equal(root->type, YAML_MAPPING);
    assert_int_equal(root->count, 3);
    const struct yaml *name = yaml_get(root, "name");
    assert_string_equal(name->text, "gemm");
    assert_false(name->quoted);
    assert_int_equal(name->key_line, 2);
    assert_int_equal(name->key_column, 1);
    assert_int_equal(name->line, 2);
    assert_int_equal(name->column, 7);
    const struct yaml *cases = yaml_get(root, "cases");
    assert_int_equal(cases->type, YAML_SEQUENCE);
    assert_int_equal(cases->count, 2);
    assert_true(yaml_get(cases->first, "n")->quoted);
    assert_int_equal(yaml_get(cases->first, "n")->line, 4);
    assert_int_equal(yaml_get(cases->first, "n")->column, 15);
    assert_string_equal(cases->first->next->first->next->text, "b");
    assert_string_equal(yaml_get(root, "text")->text, "one\ntwo\n");
    assert_true(yaml_get(root, "text")->quoted);
    assert_null(yaml_get(root, "absent"));
    assert_null(yaml_get(NULL, "x"));
    assert_null(yaml_get(name, "x"));
}

static void yaml_parse__nothing__is_an_empty_mapping(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    static const char *const empty[] = {"", "# only a comment\n", "---\n", "null\n", "{}"};
    for (size_t i = 0; i < COUNT_OF(empty); i++) {
        const struct yaml *root = parse(&arena, empty[i]);
        assert_int_equal(root->type, YAML_MAPPING);
        assert_int_equal(root->count, 0);
        assert_string_equal(root->file, "t.yaml");
    }
}

static void yaml_parse__outside_the_subset__is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message; /* its beginning */
    } bad[] = {
        {"a: &x 1\n", "t.yaml:1:4: anchors"},
        {"a: 1\nb: *x\n", "t.yaml:2:4: aliases"},
        {"a: !!str 1\n", "t.yaml:1:4: tags"},
        {"a: ! 1\n", "t.yaml:1:4: tags"},
        {"a: !x [1]\n", "t.yaml:1:4: tags"},
        {"a: &x {b: 1}\n", "t.yaml:1:4: anchors"},
        {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: this key is there twice"},
        {"a: 1\n---\nb: 2\n", "t.yaml:2:1: only one document"},
        {"[a]: 1\n", "t.yaml:1:1: a key must be"},
        {"&k a: 1\n", "t.yaml:1:1: anchors"},
        {"a: \"x\\0y\"\n", "t.yaml:1:4: a NUL"},
        {"a: [1\nb: 2\n", "t.yaml:2:"},
        {"a:\n\t- b\n", "t.yaml:2:"},
        {"a: 1\nb: \xff\n", "t.yaml:2:"},
        {"a: \"unfinished\n", "t.yaml:2:1:"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct yaml *root = NULL;
        struct err err = {0};
        if (yaml_parse(bad[i].text, strlen(bad[i].text), "t.yaml", &arena, &root, &err))
            fail_msg("'%s' was accepted", bad[i].text);
        assert_null(root);
        assert_int_equal(err.kind, ERR_BAD_INPUT);
        if (!str_starts_with(err.message, bad[i].message))
            fail_msg("'%s' gives '%s'", bad[i].text, err.message);
    }
}

/* `levels` sequences in each other. */
static bool parse_nested(struct arena *arena, int levels, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct yaml *root = NULL;
    for (int i = 0; i < levels; i++)
        (void)buf_append_char(&text, '[');
    for (int i = 0; i < levels; i++)
        (void)buf_append_char(&text, ']');
    return yaml_parse(buf_text(&text), text.length, "t.yaml", arena, &root, err);
}

static void yaml_parse__too_deep__is_a_limit(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    assert_true(parse_nested(&arena, YAML_MAX_DEPTH + 1, &err)); /* the root is level 0 */
    assert_false(parse_nested(&arena, YAML_MAX_DEPTH + 2, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_false(parse_nested(&arena, 100000, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
}

static void yaml_parse__too_many_nodes_or_bytes__is_a_limit(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf text = {0};
    const struct yaml *root = NULL;
    struct err err;
    for (int i = 0; i < YAML_MAX_NODES - 1; i++)
        (void)buf_append_str(&text, "- x\n");
    assert_true(yaml_parse(buf_text(&text), text.length, "t.yaml", &arena, &root, &err));
    assert_int_equal(root->count, YAML_MAX_NODES - 1);
    (void)buf_append_str(&text, "- x\n");
    assert_false(yaml_parse(buf_text(&text), text.length, "t.yaml", &arena, &root, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    while (text.length <= YAML_MAX_BYTES)
        (void)buf_append_str(&text, "# a comment of some length\n");
    assert_false(yaml_parse(buf_text(&text), text.length, "t.yaml", &arena, &root, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_non_null(strstr(err.message, "bytes"));
}

static void yaml_check_keys__unknown_key__points_at_it_with_a_hint(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    static const char *const allowed[] = {"budget", "target", NULL};
    const struct yaml *root = parse(&arena, "target: cpu\n\nbudgte: 5\n");
    struct err err;
    assert_false(yaml_check_keys(root, allowed, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_string_equal(err.message, "t.yaml:3:1: unknown key 'budgte'");
    assert_non_null(strstr(err.hint, "'budget'"));
    assert_false(yaml_check_keys(parse(&arena, "qqqqqqqq: 1\n"), allowed, &err));
    assert_non_null(strstr(err.hint, "'target'"));
    assert_true(yaml_check_keys(parse(&arena, "budget: 5\n"), allowed, &err));
    assert_false(yaml_check_keys(yaml_get(root, "target"), allowed, &err));
    assert_string_equal(err.message, "t.yaml:1:9: 'target' must be a mapping of keys to values");
}

static void yaml_read__right_types__are_read(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct yaml *root = parse(&arena, "s: \"12\"\ni: -5\nr: 1.5e3\nb: true\nplain: 12\n");
    const char *s = NULL;
    int64_t i = 0;
    double r = 0.0;
    bool b = false;
    struct err err;
    assert_true(yaml_read_string(root, "s", true, &s, &err));
    assert_string_equal(s, "12");
    assert_true(yaml_read_string(root, "plain", true, &s, &err));
    assert_string_equal(s, "12");
    assert_true(yaml_read_int(root, "i", true, -5, 5, &i, &err));
    assert_int_equal(i, -5);
    assert_true(yaml_read_real(root, "r", true, &r, &err));
    assert_true(r == 1500.0);
    assert_true(yaml_read_real(root, "i", true, &r, &err));
    assert_true(r == -5.0);
    assert_true(yaml_read_bool(root, "b", true, &b, &err));
    assert_true(b);
}

static void yaml_read__absent__default_stays_or_error(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct yaml *root = parse(&arena, "empty:\ntilde: ~\nword: null\nquoted: 'null'\n");
    static const char *const keys[] = {"absent", "empty", "tilde", "word"};
    struct err err;
    for (size_t k = 0; k < COUNT_OF(keys); k++) {
        int64_t i = 7;
        const char *s = "default";
        assert_true(yaml_read_int(root, keys[k], false, 0, 9, &i, &err));
        assert_int_equal(i, 7);
        assert_true(yaml_read_string(root, keys[k], false, &s, &err));
        assert_string_equal(s, "default");
        assert_false(yaml_read_string(root, keys[k], true, &s, &err));
        assert_int_equal(err.kind, ERR_BAD_INPUT);
        assert_non_null(strstr(err.message, "is missing"));
    }
    const char *s = NULL;
    assert_true(yaml_read_string(root, "quoted", true, &s, &err));
    assert_string_equal(s, "null");
}

static void yaml_read__wrong_types__point_at_the_value(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct yaml *root =
        parse(&arena, "text: abc\nquoted: \"5\"\nlist: [1]\nyes: yes\nbig: 99999999999999999999\n"
                      "inf: inf\nhex: 0x10\nten: 10\n");
    int64_t i = 7;
    double r = 7.0;
    bool b = true;
    const char *s = "seven";
    struct err err;
    assert_false(yaml_read_int(root, "text", false, 0, 9, &i, &err));
    assert_true(str_starts_with(err.message, "t.yaml:1:7: 'text' must be a whole number"));
    assert_false(yaml_read_int(root, "quoted", false, 0, 9, &i, &err));
    assert_false(yaml_read_int(root, "list", false, 0, 9, &i, &err));
    assert_false(yaml_read_int(root, "big", false, 0, INT64_MAX, &i, &err));
    assert_false(yaml_read_int(root, "ten", false, 0, 9, &i, &err));
    assert_string_equal(err.message, "t.yaml:8:6: 'ten' must be from 0 to 9, not 10");
    assert_int_equal(i, 7);
    assert_false(yaml_read_real(root, "text", false, &r, &err));
    assert_false(yaml_read_real(root, "inf", false, &r, &err));
    assert_false(yaml_read_real(root, "hex", false, &r, &err));
    assert_false(yaml_read_real(root, "quoted", false, &r, &err));
    assert_true(r == 7.0);
    assert_false(yaml_read_bool(root, "yes", false, &b, &err));
    assert_non_null(strstr(err.hint, "true or false"));
    assert_false(yaml_read_bool(root, "quoted", false, &b, &err));
    assert_true(b);
    assert_false(yaml_read_string(root, "list", false, &s, &err));
    assert_string_equal(s, "seven");
}

static void yaml_parse_stream__documents_with_tags__are_read_up_to_a_number(void **state)
{
    static const char text[] = "--- !Missed\na: 1\nb: {c: 2}\n...\n--- !Passed\na: 3\n...\n"
                               "--- {a: 4}\n--- [never, looked, at]\n";
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct yaml *const *documents = NULL;
    struct err err;
    size_t count = 0;
    assert_true(
        yaml_parse_stream(text, strlen(text), "t.yaml", 3, &arena, &documents, &count, &err));
    assert_int_equal(count, 3);
    assert_string_equal(documents[0]->tag, "!Missed");
    assert_null(yaml_get(documents[0], "b")->tag);
    assert_string_equal(documents[1]->tag, "!Passed");
    assert_string_equal(yaml_get(documents[1], "a")->text, "3");
    assert_null(documents[2]->tag);
    assert_true(yaml_parse_stream("", 0, "t.yaml", 3, &arena, &documents, &count, &err));
    assert_int_equal(count, 0);
}

static void yaml_parse_stream__what_is_none__is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"--- [a]\n", "t.yaml:1:5: a document must be a mapping"},
        {"--- !x\na: !y b\n", "t.yaml:2:4: tags are not supported"},
        {"--- !x\na: !y {b: 1}\n", "t.yaml:2:4: tags are not supported"},
        {"--- &x\na: b\n", "t.yaml:1:5: anchors are not supported"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct yaml *const *documents = NULL;
        struct err err;
        size_t count = 0;
        assert_false(yaml_parse_stream(rows[i].text, strlen(rows[i].text), "t.yaml", 9, &arena,
                                       &documents, &count, &err));
        assert_string_equal(err.message, rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_parse__block_and_flow__nodes_with_places),
        cmocka_unit_test(yaml_parse__nothing__is_an_empty_mapping),
        cmocka_unit_test(yaml_parse__outside_the_subset__is_refused_with_its_place),
        cmocka_unit_test(yaml_parse__too_deep__is_a_limit),
        cmocka_unit_test(yaml_parse__too_many_nodes_or_bytes__is_a_limit),
        cmocka_unit_test(yaml_check_keys__unknown_key__points_at_it_with_a_hint),
        cmocka_unit_test(yaml_read__right_types__are_read),
        cmocka_unit_test(yaml_read__absent__default_stays_or_error),
        cmocka_unit_test(yaml_read__wrong_types__point_at_the_value),
        cmocka_unit_test(yaml_parse_stream__documents_with_tags__are_read_up_to_a_number),
        cmocka_unit_test(yaml_parse_stream__what_is_none__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

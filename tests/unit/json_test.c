#include "json/json.h"

#include "base/str.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Parses text that must be valid. */
static const struct json *parse(struct arena *arena, const char *text)
{
    const struct json *value = NULL;
    struct err err;
    if (!json_parse(text, strlen(text), "test", arena, &value, &err))
        fail_msg("%s", err.message);
    return value;
}

/* The text of `value`, written again. */
static const char *written(struct arena *arena, const struct json *value)
{
    CLEANUP(buf_free) struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_write_value(&w, value);
    return arena_strdup(arena, buf_text(&out));
}

static void json_parse__every_type__is_read(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *root =
        parse(&arena, "{\"s\":\"a\\u00e4\\n\",\"i\":-9223372036854775808,\"r\":1e2,\"t\":true,"
                      "\"n\":null,\"a\":[1,2.0,[]],\"o\":{}}");
    assert_int_equal(root->type, JSON_OBJECT);
    assert_int_equal(root->count, 7);
    assert_string_equal(json_string(json_get(root, "s"), ""), "a\xc3\xa4\n");
    assert_int_equal(json_get(root, "s")->string_length, 4);
    assert_true(json_int(json_get(root, "i"), 0) == INT64_MIN);
    assert_int_equal(json_get(root, "r")->type, JSON_REAL);
    assert_true(json_real(json_get(root, "r"), 0.0) == 100.0);
    assert_true(json_bool(json_get(root, "t"), false));
    assert_int_equal(json_get(root, "n")->type, JSON_NULL);
    const struct json *array = json_get(root, "a");
    assert_int_equal(array->count, 3);
    assert_int_equal(json_int(json_at(array, 0), 0), 1);
    assert_int_equal(json_at(array, 1)->type, JSON_REAL);
    assert_int_equal(json_at(array, 2)->count, 0);
    assert_null(json_at(array, 3));
    assert_null(json_at(array, 0)->key);
    assert_string_equal(root->first->key, "s");
    assert_string_equal(root->first->next->key, "i");
}

static void json_parse__scalar_at_the_top__is_read(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    assert_int_equal(json_int(parse(&arena, " 42 "), 0), 42);
    assert_string_equal(json_string(parse(&arena, "\"x\""), ""), "x");
}

static void json_parse__not_json__is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "[1] 2",
        "nul",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\\ud800\"",
        "'x'",
        "01",
        "1.",
        "NaN",
        "[1 2]",
        "\"a\nb\"",
        "\"\\u0000\"",
        "9223372036854775808",
        "1e999",
        "\"\xed\xa0\x80\"",
        "// c\n1",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct json *value = NULL;
        struct err err = {0};
        if (json_parse(bad[i], strlen(bad[i]), "test", &arena, &value, &err))
            fail_msg("'%s' was accepted", bad[i]);
        assert_null(value);
        assert_int_equal(err.kind, ERR_BAD_INPUT);
        assert_true(str_starts_with(err.message, "test:"));
    }
}

static void json_parse__duplicate_key__is_refused_with_its_place(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *value = NULL;
    const char *text = "{\n  \"a\": 1,\n  \"a\": 2}";
    struct err err;
    assert_false(json_parse(text, strlen(text), "reply", &arena, &value, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_true(str_starts_with(err.message, "reply:3:"));
    assert_non_null(strstr(err.message, "duplicate"));
}

static void json_parse__length_given__nothing_after_it_is_read(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *value = NULL;
    struct err err;
    assert_true(json_parse("[1]garbage", 3, "test", &arena, &value, &err));
    assert_int_equal(value->count, 1);
    assert_false(json_parse("1\0002", 3, "test", &arena, &value, &err));
}

static char *nested(struct arena *arena, size_t levels)
{
    char *text = arena_alloc(arena, 2 * levels + 1);
    memset(text, '[', levels);
    memset(text + levels, ']', levels);
    return text;
}

static void json_parse__depth_at_and_over_the_cap__accepted_and_refused(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *value = NULL;
    struct err err;
    const char *deepest = nested(&arena, JSON_MAX_DEPTH);
    assert_string_equal(written(&arena, parse(&arena, deepest)), deepest);
    const char *deeper = nested(&arena, JSON_MAX_DEPTH + 1);
    assert_false(json_parse(deeper, strlen(deeper), "test", &arena, &value, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_true(str_starts_with(err.message, "test:1:65: "));
    const char *far = nested(&arena, 1000000);
    assert_false(json_parse(far, strlen(far), "test", &arena, &value, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
}

static void json_parse__brackets_in_strings__are_no_depth(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    char text[300];
    memset(text, '[', sizeof text);
    memcpy(text, "\"\\\"", 3);
    memcpy(text + 297, "\"", 2);
    assert_int_equal(parse(&arena, text)->type, JSON_STRING);
}

static void json_get__wrong_places__give_the_default(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *root = parse(&arena, "{\"s\":\"x\",\"i\":3,\"r\":2.5}");
    assert_null(json_get(NULL, "s"));
    assert_null(json_get(root, "absent"));
    assert_null(json_get(json_get(root, "s"), "s"));
    assert_null(json_at(root, 0));
    assert_string_equal(json_string(NULL, "d"), "d");
    assert_string_equal(json_string(json_get(root, "i"), "d"), "d");
    assert_int_equal(json_int(json_get(root, "r"), -1), -1);
    assert_true(json_real(json_get(root, "i"), -1.0) == 3.0);
    assert_true(json_real(json_get(root, "s"), -1.0) == -1.0);
    assert_true(json_bool(json_get(root, "i"), true));
}

static void json_writer__every_type__one_compact_form(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_put_string(&w, "s", "\"\\/\b\f\n\r\t\x01\x7f\xc3\xa4");
    json_put_string(&w, "null", NULL);
    json_put_int(&w, "i", INT64_MIN);
    json_put_real(&w, "r", 0.1);
    json_put_bool(&w, "b", true);
    json_key(&w, "a");
    json_begin_array(&w);
    json_write_int(&w, 1);
    json_begin_array(&w);
    json_end_array(&w);
    json_begin_object(&w);
    json_end_object(&w);
    json_write_bool(&w, false);
    json_end_array(&w);
    json_end_object(&w);
    assert_string_equal(buf_text(&out),
                        "{\"s\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\xc3\xa4\",\"null\":null,"
                        "\"i\":-9223372036854775808,\"r\":0.1,\"b\":true,\"a\":[1,[],{},false]}");
}

static const char *real_text(struct arena *arena, double value)
{
    CLEANUP(buf_free) struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_write_real(&w, value);
    return arena_strdup(arena, buf_text(&out));
}

static void json_write_real__special_values__short_and_valid(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {1e300, "1e+300"},
        {-2.5, "-2.5"},
        {123456789.0, "123456789.0"},
        {5e-324, "5e-324"},
        {0.1 + 0.2, "0.30000000000000004"},
        {9007199254740993.0, "9007199254740992.0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(real_text(&arena, cases[i].value), cases[i].text);
    assert_string_equal(real_text(&arena, nan("")), "null");
    assert_string_equal(real_text(&arena, HUGE_VAL), "null");
}

static void json_write_real__any_bits__read_back_the_same(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    uint64_t bits = 1;
    for (int i = 0; i < 5000; i++) {
        double value;
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        const struct json *again = parse(&arena, real_text(&arena, value));
        assert_int_equal(again->type, JSON_REAL);
        assert_memory_equal(&again->real, &value, sizeof value);
    }
}

static void json_write_string__bytes_that_are_no_text__are_replaced(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    static const char *const bad[] = {
        "a\xffz", "a\xc0\x80z", "a\xed\xa0\x80z", "a\xf4\x90\x80\x80z", "a\xe2\x82", "a\x80z"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(buf_free) struct buf out = {0};
        struct json_writer w = {.out = &out};
        json_write_string(&w, bad[i]);
        const char *again = json_string(parse(&arena, buf_text(&out)), "");
        assert_true(str_starts_with(again, "a\xef\xbf\xbd"));
    }
    static const char *const good[] = {"\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                       "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        CLEANUP(buf_free) struct buf out = {0};
        struct json_writer w = {.out = &out};
        json_write_string(&w, good[i]);
        assert_string_equal(json_string(parse(&arena, buf_text(&out)), ""), good[i]);
    }
}

static void json_write_value__parsed__same_text(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text =
        "{\"z\":[1,-2.5,\"\\u0001\\n\",{\"k\":null}],\"a\":{\"t\":true,\"f\":false}}";
    assert_string_equal(written(&arena, parse(&arena, text)), text);
}

static void json_writer__buffer_is_full__says_so(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf out = {.limit = 10};
    struct json_writer w = {.out = &out};
    json_begin_array(&w);
    json_write_string(&w, "0123456789");
    json_end_array(&w);
    assert_true(out.truncated);
    assert_int_equal(out.length, 10);
}

static void value_without_key(struct json_writer *w)
{
    json_begin_object(w);
    json_write_int(w, 1);
}

static void key_in_array(struct json_writer *w)
{
    json_begin_array(w);
    json_key(w, "x");
}

static void key_at_the_top(struct json_writer *w)
{
    json_key(w, "x");
}

static void key_without_value(struct json_writer *w)
{
    json_begin_object(w);
    json_key(w, "x");
    json_end_object(w);
}

static void wrong_end(struct json_writer *w)
{
    json_begin_object(w);
    json_end_array(w);
}

static void end_at_the_top(struct json_writer *w)
{
    json_end_array(w);
}

static void two_values(struct json_writer *w)
{
    json_write_int(w, 1);
    json_write_int(w, 2);
}

static void too_deep(struct json_writer *w)
{
    for (int i = 0; i <= JSON_MAX_DEPTH; i++)
        json_begin_array(w);
}

/* Does `misuse` end a process of its own in abort()? */
static bool aborts(void (*misuse)(struct json_writer *w))
{
    const pid_t pid = fork();
    if (pid == 0) {
        struct buf out = {0};
        struct json_writer w = {.out = &out};
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        misuse(&w);
        _exit(0);
    }
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void json_writer__out_of_place__is_a_bug(void **state)
{
    (void)state;
    static void (*const misuses[])(struct json_writer * w) = {
        value_without_key, key_in_array,   key_at_the_top, key_without_value,
        wrong_end,         end_at_the_top, two_values,     too_deep,
    };
    for (size_t i = 0; i < COUNT_OF(misuses); i++) {
        if (!aborts(misuses[i]))
            fail_msg("misuse %zu went through", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_parse__every_type__is_read),
        cmocka_unit_test(json_parse__scalar_at_the_top__is_read),
        cmocka_unit_test(json_parse__not_json__is_refused),
        cmocka_unit_test(json_parse__duplicate_key__is_refused_with_its_place),
        cmocka_unit_test(json_parse__length_given__nothing_after_it_is_read),
        cmocka_unit_test(json_parse__depth_at_and_over_the_cap__accepted_and_refused),
        cmocka_unit_test(json_parse__brackets_in_strings__are_no_depth),
        cmocka_unit_test(json_get__wrong_places__give_the_default),
        cmocka_unit_test(json_writer__every_type__one_compact_form),
        cmocka_unit_test(json_write_real__special_values__short_and_valid),
        cmocka_unit_test(json_write_real__any_bits__read_back_the_same),
        cmocka_unit_test(json_write_string__bytes_that_are_no_text__are_replaced),
        cmocka_unit_test(json_write_value__parsed__same_text),
        cmocka_unit_test(json_writer__buffer_is_full__says_so),
        cmocka_unit_test(json_writer__out_of_place__is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is called plain, the parser takes; and what our writer makes is called plain. */
#include "json/json.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static bool is_plain(const char *text)
{
    return json_is_plain_object(text, strlen(text));
}

static void json_is_plain_object__what_the_writer_makes__is_plain(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf out = {0};
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_put_string(&w, "intent", "a \"quoted\" path\\name\n");
    json_put_int(&w, "seed", -1234567890123456);
    json_put_real(&w, "ratio", -0.1234567890123456);
    json_put_real(&w, "tiny", 1e-12);
    json_put_real(&w, "nothing", 0.0);
    json_put_bool(&w, "win", true);
    json_put_string(&w, "missing", NULL);
    json_end_object(&w);
    assert_true(json_is_plain_object(buf_text(&out), out.length));
    assert_true(is_plain("{}"));
    assert_true(is_plain("{\"a\":[],\"b\":[{\"a\":1},{\"a\":[[2],{}]}]}"));
}

static void json_is_plain_object__doubtful__is_left_to_the_parser(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "[1]",
        "1",
        "{\"a\":1}x",
        "{\"a\":1,}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":1,\"b\":2}}",
        "{\"a\" :1}",
        "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":1.}",
        "{\"a\":1e}",
        "{\"a\":123456789012345678}",
        "{\"a\":1e400}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\\q\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\xc3\xa4\"}",
        "{\"a\":[}",
        "{\"a\":[1}",
        "{\"a\":{]}",
        "{1:2}",
        "{\"a\":tru}",
        "{\"a\":}",
        "{,}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (is_plain(texts[i]))
            fail_msg("'%s' is called plain", texts[i]);
    }
}

static void json_is_plain_object__nested_to_the_cap__still_fits_into_an_array(void **state)
{
    (void)state;
    for (size_t depth = 1; depth <= JSON_MAX_DEPTH + 1; depth++) {
        CLEANUP(buf_free) struct buf text = {0};
        (void)buf_append_str(&text, "{\"a\":");
        for (size_t i = 1; i < depth; i++)
            (void)buf_append_char(&text, '[');
        (void)buf_append_char(&text, '1');
        for (size_t i = 1; i < depth; i++)
            (void)buf_append_char(&text, ']');
        (void)buf_append_char(&text, '}');
        assert_int_equal(is_plain(buf_text(&text)), depth < JSON_MAX_DEPTH);
    }
}

/* Sound texts with a few bytes changed, taken out or doubled. */
static void json_is_plain_object__damaged_at_random__never_more_than_the_parser_takes(void **state)
{
    (void)state;
    static const char seed_text[] =
        "{\"a\":[1,-2.5e-3,{\"b\":\"x\\ny\"},[]],\"c\":{\"d\":true,\"e\":"
        "null},\"a2\":\"q\\\\\",\"f\":0.125,\"g\":{}}";
    static const char bytes[] = "{}[]\",:\\0123456789.eE+-tfnua \n\x01\x7f\xc3";
    struct rng rng = rng_seeded(41);
    int plain = 0;
    for (int i = 0; i < 60000; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        char text[sizeof seed_text + 8];
        size_t length = sizeof seed_text - 1;
        memcpy(text, seed_text, length);
        for (uint64_t changes = rng_below(&rng, 4); changes > 0; changes--) {
            const size_t at = rng_below(&rng, length);
            const uint64_t how = rng_below(&rng, 3);
            if (how == 0) {
                text[at] = bytes[rng_below(&rng, sizeof bytes - 1)];
            } else if (how == 1) {
                memmove(text + at, text + at + 1, --length - at);
            } else {
                memmove(text + at + 1, text + at, length - at);
                length++;
            }
        }
        if (!json_is_plain_object(text, length))
            continue;
        plain++;
        const struct json *value = NULL;
        struct err err;
        if (!json_parse(text, length, "test", &arena, &value, &err))
            fail_msg("'%.*s' is called plain, but %s", (int)length, text, err.message);
        assert_int_equal(value->type, JSON_OBJECT);
    }
    assert_true(plain > 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_plain_object__what_the_writer_makes__is_plain),
        cmocka_unit_test(json_is_plain_object__doubtful__is_left_to_the_parser),
        cmocka_unit_test(json_is_plain_object__nested_to_the_cap__still_fits_into_an_array),
        cmocka_unit_test(json_is_plain_object__damaged_at_random__never_more_than_the_parser_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

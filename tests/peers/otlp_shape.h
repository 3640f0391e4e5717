/*
 * The shape of OTLP's JSON (ExportTraceServiceRequest, opentelemetry-proto 1.x), checked strictly:
 * which keys there are, ids as lower-case hex, 64-bit integers as decimal strings, one value in an
 * AnyValue, parents that exist. For tests.
 */
#ifndef KOPE_TESTS_OTLP_SHAPE_H
#define KOPE_TESTS_OTLP_SHAPE_H

#include <cmocka.h>

#include "base/str.h"
#include "json/json.h"

#include <string.h>

static inline void otlp_keys(const struct json *object, const char *allowed)
{
    assert_non_null(object);
    assert_int_equal(object->type, JSON_OBJECT);
    for (const struct json *item = object->first; item; item = item->next) {
        const char *hit = strstr(allowed, item->key);
        if (!hit)
            fail_msg("key '%s' is not one of: %s", item->key, allowed);
    }
}

static inline void otlp_hex(const struct json *value, size_t digits)
{
    const char *text = json_string(value, "");
    assert_int_equal(strlen(text), digits);
    assert_int_equal(strspn(text, "0123456789abcdef"), digits);
    assert_true(strspn(text, "0") < digits); /* all zeroes is no id */
}

static inline void otlp_int64(const struct json *value)
{
    int64_t number = 0;
    assert_non_null(value);
    assert_int_equal(value->type, JSON_STRING);
    assert_true(str_parse_int64(value->string, &number));
}

static inline void otlp_attributes(const struct json *list)
{
    assert_non_null(list);
    assert_int_equal(list->type, JSON_ARRAY);
    for (const struct json *item = list->first; item; item = item->next) {
        otlp_keys(item, "key value");
        assert_true(json_string(json_get(item, "key"), "")[0] != '\0');
        const struct json *value = json_get(item, "value");
        otlp_keys(value, "stringValue intValue doubleValue boolValue arrayValue");
        assert_int_equal(value->count, 1);
        if (json_get(value, "intValue"))
            otlp_int64(json_get(value, "intValue"));
        if (json_get(value, "stringValue"))
            assert_int_equal(json_get(value, "stringValue")->type, JSON_STRING);
        const struct json *array = json_get(value, "arrayValue");
        if (array)
            assert_int_equal(json_get(array, "values")->type, JSON_ARRAY);
    }
}

static inline void otlp_span(const struct json *span)
{
    otlp_keys(span, "traceId spanId parentSpanId name kind startTimeUnixNano endTimeUnixNano "
                    "attributes status");
    otlp_hex(json_get(span, "traceId"), 32);
    otlp_hex(json_get(span, "spanId"), 16);
    if (json_get(span, "parentSpanId"))
        otlp_hex(json_get(span, "parentSpanId"), 16);
    assert_true(json_string(json_get(span, "name"), "")[0] != '\0');
    const int64_t kind = json_int(json_get(span, "kind"), 0);
    assert_true(kind >= 1 && kind <= 5);
    otlp_int64(json_get(span, "startTimeUnixNano"));
    otlp_int64(json_get(span, "endTimeUnixNano"));
    otlp_attributes(json_get(span, "attributes"));
    otlp_keys(json_get(span, "status"), "code message");
}

/* Checks each line; calls `each` (NULL: none) with every span. Returns how many there are. */
static inline int otlp_each(const char *text, struct arena *arena,
                            void (*each)(void *context, const struct json *span), void *context)
{
    int spans = 0;
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const struct json *root = NULL;
        struct err err = {0};
        if (!json_parse(line, length, "trace", arena, &root, &err))
            fail_msg("%s", err.message);
        otlp_keys(root, "resourceSpans");
        const struct json *resource = json_at(json_get(root, "resourceSpans"), 0);
        otlp_keys(resource, "resource scopeSpans");
        otlp_attributes(json_get(json_get(resource, "resource"), "attributes"));
        const struct json *scope = json_at(json_get(resource, "scopeSpans"), 0);
        otlp_keys(scope, "scope spans");
        otlp_keys(json_get(scope, "scope"), "name version");
        const struct json *list = json_get(scope, "spans");
        assert_true(list && list->type == JSON_ARRAY && list->count > 0);
        for (const struct json *span = list->first; span; span = span->next, spans++) {
            otlp_span(span);
            if (each)
                each(context, span);
        }
        line += length + (line[length] == '\n');
    }
    return spans;
}

static inline int otlp_check(const char *text, struct arena *arena)
{
    return otlp_each(text, arena, NULL, NULL);
}

#endif

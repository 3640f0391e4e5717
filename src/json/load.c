#include "json/internal.h"

#include <assert.h>
#include <jansson.h>

static_assert(sizeof(json_int_t) == sizeof(int64_t), "jansson's integers are ours");

static void release(json_t **value)
{
    json_decref(*value);
}

/* Recursion is as deep as the document, which json_parse limits. */
static struct json *copy(struct arena *arena, json_t *value)
{
    struct json *last = NULL;
    switch (json_typeof(value)) {
    case JSON_OBJECT: {
        struct json *object = json_node_object(arena);
        const char *key;
        json_t *member;
        json_object_foreach(value, key, member)
        {
            struct json *child = copy(arena, member);
            json_node_add(arena, object, last, key, child);
            last = child;
        }
        return object;
    }
    case JSON_ARRAY: {
        struct json *array = json_node_array(arena);
        const size_t count = json_array_size(value);
        for (size_t i = 0; i < count; i++) {
            struct json *child = copy(arena, json_array_get(value, i));
            json_node_add(arena, array, last, NULL, child);
            last = child;
        }
        return array;
    }
    case JSON_STRING:
        return json_node_string(arena, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        return json_node_int(arena, json_integer_value(value));
    case JSON_REAL:
        return json_node_real(arena, json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return json_node_bool(arena, json_is_true(value));
    case JSON_NULL:
        break;
    }
    return json_node_null(arena);
}

bool json_load(const char *text, size_t length, const char *where, struct arena *arena,
               struct json **out, struct err *err)
{
    json_error_t problem;
    CLEANUP(release)
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
    if (!root)
        return err_set(err, ERR_BAD_INPUT, "%s:%d:%d: %s", where, problem.line, problem.column,
                       problem.text);
    *out = copy(arena, root);
    return true;
}

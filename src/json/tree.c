#include "json/internal.h"
#include "json/json.h"

#include "base/str.h"

static struct json *node(struct arena *arena, enum json_type type)
{
    struct json *value = arena_alloc(arena, sizeof *value);
    value->type = type;
    return value;
}

struct json *json_node_null(struct arena *arena)
{
    return node(arena, JSON_NULL);
}

struct json *json_node_bool(struct arena *arena, bool value)
{
    struct json *out = node(arena, JSON_BOOL);
    out->boolean = value;
    return out;
}

struct json *json_node_int(struct arena *arena, int64_t value)
{
    struct json *out = node(arena, JSON_INT);
    out->integer = value;
    out->real = (double)value;
    return out;
}

struct json *json_node_real(struct arena *arena, double value)
{
    struct json *out = node(arena, JSON_REAL);
    out->real = value;
    return out;
}

struct json *json_node_string(struct arena *arena, const char *text, size_t length)
{
    struct json *out = node(arena, JSON_STRING);
    out->string = arena_strndup(arena, text, length);
    out->string_length = length;
    return out;
}

struct json *json_node_array(struct arena *arena)
{
    return node(arena, JSON_ARRAY);
}

struct json *json_node_object(struct arena *arena)
{
    return node(arena, JSON_OBJECT);
}

void json_node_add(struct arena *arena, struct json *parent, struct json *last, const char *key,
                   struct json *child)
{
    child->key = key ? arena_strdup(arena, key) : NULL;
    if (last)
        last->next = child;
    else
        parent->first = child;
    parent->count++;
}

/* The parser's own limit is far higher, and it tells no place; brackets in strings do not count. */
static bool check_depth(const char *text, size_t length, const char *where, struct err *err)
{
    bool in_string = false;
    size_t depth = 0;
    size_t line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (c == '\n') {
            line++;
            line_start = i + 1;
        } else if (in_string) {
            i += c == '\\'; /* the character after it is no quote */
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > JSON_MAX_DEPTH)
                return err_set(err, ERR_LIMIT, "%s:%zu:%zu: nested deeper than %d levels", where,
                               line, i - line_start + 1, JSON_MAX_DEPTH);
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return true;
}

bool json_parse(const char *text, size_t length, const char *where, struct arena *arena,
                const struct json **out, struct err *err)
{
    struct json *root = NULL;
    if (!check_depth(text, length, where, err) ||
        !json_load(text, length, where, arena, &root, err))
        return false;
    *out = root;
    return true;
}

const struct json *json_get(const struct json *object, const char *key)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    const struct json *member = object->first;
    while (member && !str_equal(member->key, key))
        member = member->next;
    return member;
}

const struct json *json_at(const struct json *array, size_t index)
{
    if (!array || array->type != JSON_ARRAY || index >= array->count)
        return NULL;
    const struct json *item = array->first;
    while (index-- > 0)
        item = item->next;
    return item;
}

const char *json_string(const struct json *value, const char *otherwise)
{
    return value && value->type == JSON_STRING ? value->string : otherwise;
}

int64_t json_int(const struct json *value, int64_t otherwise)
{
    return value && value->type == JSON_INT ? value->integer : otherwise;
}

double json_real(const struct json *value, double otherwise)
{
    return value && (value->type == JSON_REAL || value->type == JSON_INT) ? value->real : otherwise;
}

bool json_bool(const struct json *value, bool otherwise)
{
    return value && value->type == JSON_BOOL ? value->boolean : otherwise;
}

#include "mcp/schema.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 192, NAME_BYTES = 80, MAX_DEPTH = 3 * JSON_MAX_DEPTH };

/* Where the check stands: the place in the value, for messages. */
struct at {
    const struct json *root; /* of the schema, for $ref */
    char path[PATH_BYTES];
    int depth; /* of the checks within checks: a $ref may lead in a circle */
    struct err *err;
};

static bool check(struct at *at, const struct json *schema, const struct json *value);

static const char *type_name(const struct json *value)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",     [JSON_BOOL] = "boolean",  [JSON_INT] = "integer",
        [JSON_REAL] = "number",   [JSON_STRING] = "string", [JSON_ARRAY] = "array",
        [JSON_OBJECT] = "object",
    };
    return names[value->type];
}

static bool is_type(const struct json *value, const char *name)
{
    return str_equal(type_name(value), name) ||
           (str_equal(name, "number") && value->type == JSON_INT);
}

static bool check_type(struct at *at, const struct json *type, const struct json *value)
{
    if (type->type == JSON_STRING) {
        if (is_type(value, type->string))
            return true;
        return err_set(at->err, ERR_USAGE, "'%s' must be %s, not %s", at->path, type->string,
                       type_name(value));
    }
    for (const struct json *one = type->first; one; one = one->next) {
        if (is_type(value, json_string(one, "")))
            return true;
    }
    return err_set(at->err, ERR_USAGE, "'%s' must not be %s", at->path, type_name(value));
}

static bool is_same(const struct json *a, const struct json *b)
{
    if (a->type == JSON_STRING || b->type == JSON_STRING)
        return a->type == b->type && str_equal(a->string, b->string);
    if ((a->type == JSON_INT || a->type == JSON_REAL) &&
        (b->type == JSON_INT || b->type == JSON_REAL))
        return !(a->real < b->real) && !(a->real > b->real);
    return a->type == b->type && a->boolean == b->boolean;
}

static bool check_choice(struct at *at, const struct json *schema, const struct json *value)
{
    const struct json *constant = json_get(schema, "const");
    const struct json *choices = json_get(schema, "enum");
    char words[PATH_BYTES] = "";
    if (constant && !is_same(constant, value))
        return err_set(at->err, ERR_USAGE, "'%s' must be '%s'", at->path,
                       json_string(constant, "another"));
    if (!choices)
        return true;
    for (const struct json *one = choices->first; one; one = one->next) {
        if (is_same(one, value))
            return true;
        const size_t used = strlen(words);
        (void)snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "",
                       json_string(one, "?"));
    }
    return err_set(at->err, ERR_USAGE, "'%s' is one of %s", at->path, words);
}

static bool check_size(struct at *at, const struct json *schema, const struct json *value)
{
    const bool is_number = value->type == JSON_INT || value->type == JSON_REAL;
    const struct {
        const char *key;
        bool applies, is_least;
        double size;
    } bounds[] = {
        {"minimum", is_number, true, value->real},
        {"maximum", is_number, false, value->real},
        {"minLength", value->type == JSON_STRING, true, (double)value->string_length},
        {"maxLength", value->type == JSON_STRING, false, (double)value->string_length},
        {"minItems", value->type == JSON_ARRAY, true, (double)value->count},
        {"maxItems", value->type == JSON_ARRAY, false, (double)value->count},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct json *bound = json_get(schema, bounds[i].key);
        if (!bound || !bounds[i].applies)
            continue;
        const double limit = json_real(bound, 0.0);
        if (bounds[i].is_least ? bounds[i].size < limit : bounds[i].size > limit)
            return err_set(at->err, ERR_USAGE, "'%s' breaks %s %g: it is %g", at->path,
                           bounds[i].key, limit, bounds[i].size);
    }
    return true;
}

/* Checks a child under its name; the path is as before afterwards. */
static bool check_child(struct at *at, const struct json *schema, const struct json *value,
                        const char *step)
{
    const size_t length = strlen(at->path);
    (void)snprintf(at->path + length, sizeof at->path - length, "%s", step);
    const bool ok = check(at, schema, value);
    at->path[length] = '\0';
    return ok;
}

static bool unknown_member(struct at *at, const struct json *properties, const char *key)
{
    enum { MAX_NAMES = 32 };
    const char *names[MAX_NAMES];
    size_t count = 0;
    for (const struct json *p = properties ? properties->first : NULL; p && count < MAX_NAMES;
         p = p->next)
        names[count++] = p->key;
    (void)err_set(at->err, ERR_USAGE, "'%s' has no member '%.64s'", at->path, key);
    const char *nearest = str_nearest(key, names, count);
    return nearest ? err_hint(at->err, "did you mean '%s'?", nearest) : false;
}

static bool check_object(struct at *at, const struct json *schema, const struct json *value)
{
    const struct json *properties = json_get(schema, "properties");
    const struct json *others = json_get(schema, "additionalProperties");
    const struct json *required = json_get(schema, "required");
    for (const struct json *name = required ? required->first : NULL; name; name = name->next) {
        if (!json_get(value, json_string(name, "")))
            return err_set(at->err, ERR_USAGE, "'%s' needs '%s'", at->path, json_string(name, ""));
    }
    for (const struct json *member = value->first; member; member = member->next) {
        const struct json *known = json_get(properties, member->key);
        if (!known && others && others->type == JSON_BOOL && !others->boolean)
            return unknown_member(at, properties, member->key);
        if (!known && others && others->type == JSON_OBJECT)
            known = others;
        char step[NAME_BYTES];
        (void)snprintf(step, sizeof step, ".%.64s", member->key);
        if (known && !check_child(at, known, member, step))
            return false;
    }
    return true;
}

static const struct json *resolve(const struct json *root, const char *ref)
{
    const struct json *at = root;
    if (ref[0] != '#')
        return NULL;
    for (ref++; at && *ref == '/';) {
        char name[PATH_BYTES];
        const size_t length = strcspn(++ref, "/");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < PATH_BYTES ? length : 0), ref);
        at = json_get(at, name);
        ref += length;
    }
    return at;
}

static bool check_any_of(struct at *at, const struct json *choices, const struct json *value)
{
    for (const struct json *one = choices->first; one; one = one->next) {
        if (check(at, one, value))
            return true;
    }
    return false;
}

static bool check(struct at *at, const struct json *schema, const struct json *value)
{
    const struct json *type = json_get(schema, "type");
    const struct json *ref = json_get(schema, "$ref");
    const struct json *any_of = json_get(schema, "anyOf");
    const struct json *items = json_get(schema, "items");
    if (at->depth == MAX_DEPTH)
        return err_set(at->err, ERR_LIMIT, "'%s' is too deep to check", at->path);
    at->depth++;
    bool ok = (!type || check_type(at, type, value)) && check_choice(at, schema, value) &&
              check_size(at, schema, value);
    if (ok && ref)
        ok = check(at, resolve(at->root, json_string(ref, "")), value);
    if (ok && any_of)
        ok = check_any_of(at, any_of, value);
    if (ok && value->type == JSON_OBJECT)
        ok = check_object(at, schema, value);
    size_t index = 0;
    for (const struct json *item = value->type == JSON_ARRAY && items ? value->first : NULL;
         ok && item; item = item->next) {
        char step[NAME_BYTES];
        (void)snprintf(step, sizeof step, "[%zu]", index++);
        ok = check_child(at, items, item, step);
    }
    at->depth--;
    return ok;
}

bool schema_check(const struct json *schema, const struct json *value, const char *where,
                  struct err *err)
{
    static const struct json nothing = {.type = JSON_OBJECT};
    struct err found = {0};
    struct at at = {.root = schema, .err = &found};
    (void)snprintf(at.path, sizeof at.path, "%s", where);
    if (check(&at, schema, value ? value : &nothing))
        return true;
    *err = found;
    return false;
}

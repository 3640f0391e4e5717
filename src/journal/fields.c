#include "journal/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t text_limit(enum field_type type)
{
    if (type == FIELD_ID)
        return FIELD_ID_BYTES;
    return type == FIELD_NAME ? FIELD_NAME_BYTES : FIELD_TEXT_BYTES;
}

void field_put_text(struct json_writer *w, const char *key, const char *text, size_t limit)
{
    if (!text)
        text = "";
    const size_t length = strlen(text);
    if (length <= limit) {
        json_put_string(w, key, text);
        return;
    }
    size_t cut = limit;
    while (cut > 0 && limit - cut < 4 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    CLEANUP(arena_free) struct arena scratch = {0};
    json_put_string(w, key, arena_strndup(&scratch, text, cut));
}

static void write_real(struct json_writer *w, const char *key, double value)
{
    json_key(w, key);
    if (isfinite(value))
        json_write_real(w, value);
    else
        json_write_null(w);
}

static void write_seed(struct json_writer *w, const char *key, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    json_put_string(w, key, text);
}

static void write_field(const struct field *field, const void *from, struct json_writer *w)
{
    const void *at = (const char *)from + field->offset;
    switch (field->type) {
    case FIELD_ID:
    case FIELD_NAME:
    case FIELD_TEXT: {
        const char *const *text = at;
        field_put_text(w, field->key, *text, text_limit(field->type));
        break;
    }
    case FIELD_INT: {
        const int64_t *value = at;
        json_put_int(w, field->key, *value);
        break;
    }
    case FIELD_SEED: {
        const uint64_t *value = at;
        write_seed(w, field->key, *value);
        break;
    }
    case FIELD_REAL:
    case FIELD_REACH: {
        const double *value = at;
        write_real(w, field->key, *value);
        break;
    }
    case FIELD_BOOL: {
        const bool *value = at;
        json_put_bool(w, field->key, *value);
        break;
    }
    }
}

void fields_write(const struct field_table *table, const void *from, struct json_writer *w)
{
    for (size_t i = 0; i < table->count; i++)
        write_field(&table->fields[i], from, w);
}

/* What a reader needs to say what is wrong. */
struct place {
    const char *what;
    const struct field *field;
    struct arena *arena;
    struct err *err;
};

static bool refuse(const struct place *place, const char *problem)
{
    return err_set(place->err, ERR_CORRUPT, "event '%s': field '%s' %s", place->what,
                   place->field->key, problem);
}

static bool read_text(const struct place *place, const struct json *value, const char **out)
{
    if (!value) {
        *out = "";
        return !place->field->is_required || refuse(place, "is missing");
    }
    if (value->type != JSON_STRING || strlen(value->string) != value->string_length)
        return refuse(place, "is no text");
    if (value->string_length > FIELD_SLACK * text_limit(place->field->type))
        return refuse(place, "is too long");
    if (place->field->is_required && value->string_length == 0)
        return refuse(place, "is empty");
    *out = arena_strndup(place->arena, value->string, value->string_length);
    return true;
}

static bool read_seed(const struct place *place, const struct json *value, uint64_t *out)
{
    *out = 0;
    if (!value)
        return true;
    const char *text = json_string(value, "");
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 20 || text[digits] != '\0')
        return refuse(place, "is no decimal number in text");
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0 || refuse(place, "is too large");
}

static bool read_real(const struct place *place, const struct json *value, double *out)
{
    const bool reach = place->field->type == FIELD_REACH;
    *out = 0.0;
    if (!value)
        return true;
    if (value->type == JSON_NULL) {
        *out = reach ? (double)INFINITY : 0.0;
        return true;
    }
    if (value->type != JSON_INT && value->type != JSON_REAL)
        return refuse(place, "is no number");
    if (!isfinite(value->real) || (reach && value->real < 0.0))
        return refuse(place, "is out of range");
    *out = value->real;
    return true;
}

static bool read_int(const struct place *place, const struct json *value, int64_t *out)
{
    *out = json_int(value, 0);
    return !value || value->type == JSON_INT || refuse(place, "is no integer");
}

static bool read_bool(const struct place *place, const struct json *value, bool *out)
{
    *out = json_bool(value, false);
    return !value || value->type == JSON_BOOL || refuse(place, "is neither true nor false");
}

static bool read_field(const struct place *place, const struct json *value, void *at)
{
    switch (place->field->type) {
    case FIELD_ID:
    case FIELD_NAME:
    case FIELD_TEXT:
        return read_text(place, value, at);
    case FIELD_INT:
        return read_int(place, value, at);
    case FIELD_SEED:
        return read_seed(place, value, at);
    case FIELD_REAL:
    case FIELD_REACH:
        return read_real(place, value, at);
    case FIELD_BOOL:
        return read_bool(place, value, at);
    }
    BUG("field '%s' has no type", place->field->key);
}

bool field_check_object(const char *what, const struct json *object, struct err *err)
{
    return (object && object->type == JSON_OBJECT) ||
           err_set(err, ERR_CORRUPT, "event '%s': it is no object", what);
}

bool fields_read(const struct field_table *table, const struct json *object, struct arena *arena,
                 void *out, struct err *err)
{
    if (!field_check_object(table->what, object, err))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        const struct place place = {table->what, field, arena, err};
        if (!read_field(&place, json_get(object, field->key), (char *)out + field->offset))
            return false;
    }
    return true;
}

bool field_read_array(const char *what, const struct json *object, const char *key, size_t limit,
                      const struct json **out, struct err *err)
{
    const struct json *value = json_get(object, key);
    if (value && value->type != JSON_ARRAY)
        return err_set(err, ERR_CORRUPT, "event '%s': field '%s' is no array", what, key);
    if (value && value->count > limit)
        return err_set(err, ERR_CORRUPT, "event '%s': field '%s' has %zu items, more than %zu",
                       what, key, value->count, limit);
    *out = value;
    return true;
}

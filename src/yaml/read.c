#include "yaml/yaml.h"

#include "base/buf.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 512 };

bool yaml_is_null(const struct yaml *node)
{
    return node->type == YAML_SCALAR && !node->quoted &&
           (str_equal(node->text, "") || str_equal(node->text, "~") ||
            str_equal(node->text, "null"));
}

const struct yaml *yaml_get(const struct yaml *mapping, const char *key)
{
    if (!mapping || mapping->type != YAML_MAPPING)
        return NULL;
    const struct yaml *member = mapping->first;
    while (member && !str_equal(member->key, key))
        member = member->next;
    return member;
}

bool yaml_error(const struct yaml *at, struct err *err, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return err_set(err, ERR_BAD_INPUT, "%s:%d:%d: %s", at->file, at->line, at->column, message);
}

static bool unknown_key(const struct yaml *member, const char *const *allowed, size_t count,
                        struct err *err)
{
    (void)err_set(err, ERR_BAD_INPUT, "%s:%d:%d: unknown key '%s'", member->file, member->key_line,
                  member->key_column, member->key);
    const char *nearest = str_nearest(member->key, allowed, count);
    if (nearest)
        return err_hint(err, "did you mean '%s'?", nearest);
    CLEANUP(buf_free) struct buf list = {0};
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&list, "%s'%s'", i ? ", " : "", allowed[i]);
    return err_hint(err, "allowed here: %s", buf_text(&list));
}

bool yaml_check_keys(const struct yaml *mapping, const char *const *allowed, struct err *err)
{
    if (mapping->type != YAML_MAPPING)
        return yaml_error(mapping, err, "'%s' must be a mapping of keys to values",
                          mapping->key ? mapping->key : mapping->file);
    size_t count = 0;
    while (allowed[count])
        count++;
    for (const struct yaml *member = mapping->first; member; member = member->next) {
        size_t i = 0;
        while (i < count && !str_equal(member->key, allowed[i]))
            i++;
        if (i == count)
            return unknown_key(member, allowed, count, err);
    }
    return true;
}

/* The scalar at `key`; `*out` is NULL where it is absent and may be. */
static bool find_scalar(const struct yaml *mapping, const char *key, bool required,
                        const struct yaml **out, struct err *err)
{
    const struct yaml *value = yaml_get(mapping, key);
    const bool absent = !value || yaml_is_null(value);
    if (absent && required)
        return yaml_error(value ? value : mapping, err, "'%s' is missing", key);
    if (!absent && value->type != YAML_SCALAR)
        return yaml_error(value, err, "'%s' must be one value", key);
    *out = absent ? NULL : value;
    return true;
}

bool yaml_read_string(const struct yaml *mapping, const char *key, bool required, const char **out,
                      struct err *err)
{
    const struct yaml *value = NULL;
    if (!find_scalar(mapping, key, required, &value, err))
        return false;
    if (value)
        *out = value->text;
    return true;
}

bool yaml_read_int(const struct yaml *mapping, const char *key, bool required, int64_t minimum,
                   int64_t maximum, int64_t *out, struct err *err)
{
    const struct yaml *value = NULL;
    int64_t number;
    if (!find_scalar(mapping, key, required, &value, err))
        return false;
    if (!value)
        return true;
    if (value->quoted || !str_parse_int64(value->text, &number))
        return yaml_error(value, err, "'%s' must be a whole number, not '%s'", key, value->text);
    if (number < minimum || number > maximum)
        return yaml_error(value, err, "'%s' must be from %" PRId64 " to %" PRId64 ", not %" PRId64,
                          key, minimum, maximum, number);
    *out = number;
    return true;
}

bool yaml_read_real(const struct yaml *mapping, const char *key, bool required, double *out,
                    struct err *err)
{
    const struct yaml *value = NULL;
    double number;
    if (!find_scalar(mapping, key, required, &value, err))
        return false;
    if (!value)
        return true;
    /* Only decimal digits: strtod would take 'inf', 'nan' and hexadecimal too. */
    if (value->quoted || value->text[strspn(value->text, "+-.0123456789eE")] != '\0' ||
        !str_parse_double(value->text, &number))
        return yaml_error(value, err, "'%s' must be a number, not '%s'", key, value->text);
    *out = number;
    return true;
}

bool yaml_read_bool(const struct yaml *mapping, const char *key, bool required, bool *out,
                    struct err *err)
{
    const struct yaml *value = NULL;
    if (!find_scalar(mapping, key, required, &value, err))
        return false;
    if (!value)
        return true;
    const bool is_true = str_equal(value->text, "true");
    if (value->quoted || (!is_true && !str_equal(value->text, "false"))) {
        (void)yaml_error(value, err, "'%s' must be true or false, not '%s'", key, value->text);
        return err_hint(err, "write true or false, without quotes");
    }
    *out = is_true;
    return true;
}

bool yaml_read_word(const struct yaml *mapping, const char *key, bool required,
                    const char *const *words, size_t count, size_t *out, struct err *err)
{
    const char *text = NULL;
    if (!yaml_read_string(mapping, key, required, &text, err))
        return false;
    if (!text)
        return true;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(words[i], text)) {
            *out = i;
            return true;
        }
    }
    (void)yaml_error(yaml_get(mapping, key), err, "'%.64s' is no value of '%s'", text, key);
    const char *nearest = str_nearest(text, words, count);
    if (nearest)
        return err_hint(err, "did you mean '%s'?", nearest);
    struct buf all = {.limit = ERR_HINT_BYTES};
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&all, "%s%s", i ? ", " : "", words[i]);
    (void)err_hint(err, "one of: %s", buf_text(&all));
    buf_free(&all);
    return false;
}

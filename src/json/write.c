#include "json/json.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bit of `has_item` and `in_object` for the array or object that is open; 0 at the top. */
static uint64_t level_bit(const struct json_writer *w)
{
    return w->depth ? UINT64_C(1) << (w->depth - 1) : 0;
}

static void comma(struct json_writer *w)
{
    if (w->has_item & level_bit(w))
        (void)buf_append_char(w->out, ',');
    w->has_item |= level_bit(w);
}

/* Before each value. */
static void place(struct json_writer *w)
{
    if (w->depth == 0) {
        if (w->complete)
            BUG("json: a second value at the top");
        w->complete = true;
    } else if (w->in_object & level_bit(w)) {
        if (!w->after_key)
            BUG("json: a value without a key in an object");
        w->after_key = false;
    } else {
        comma(w);
    }
}

static void begin(struct json_writer *w, bool object)
{
    place(w);
    if (w->depth == JSON_MAX_DEPTH)
        BUG("json: written deeper than %d levels", JSON_MAX_DEPTH);
    w->depth++;
    w->has_item &= ~level_bit(w);
    w->in_object &= ~level_bit(w);
    if (object)
        w->in_object |= level_bit(w);
    (void)buf_append_char(w->out, object ? '{' : '[');
}

static void end(struct json_writer *w, bool object)
{
    const bool in_object = (w->in_object & level_bit(w)) != 0;
    if (w->depth == 0 || in_object != object || w->after_key)
        BUG("json: '%c' out of place", object ? '}' : ']');
    w->depth--;
    (void)buf_append_char(w->out, object ? '}' : ']');
}

void json_begin_object(struct json_writer *w)
{
    begin(w, true);
}

void json_end_object(struct json_writer *w)
{
    end(w, true);
}

void json_begin_array(struct json_writer *w)
{
    begin(w, false);
}

void json_end_array(struct json_writer *w)
{
    end(w, false);
}

/* Bytes of the UTF-8 character at `text`, 0 where it is none (RFC 3629, table 3-7 of Unicode). */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    const unsigned char lead = text[0];
    if (lead < 0x80)
        return 1;
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < length)
        return 0;
    /* The second byte excludes long forms, surrogates and what is beyond U+10FFFF. */
    const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

static void append_escape(struct buf *out, unsigned char c)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                   ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    if (c < sizeof letters && letters[c])
        (void)buf_printf(out, "\\%c", letters[c]);
    else
        (void)buf_printf(out, "\\u%04x", c);
}

static void append_quoted(struct buf *out, const char *text, size_t length)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
    size_t plain = 0;                                 /* start of what needs no escape */
    (void)buf_append_char(out, '"');
    for (size_t i = 0; i < length;) {
        const unsigned char *at = (const unsigned char *)text + i;
        const size_t bytes = utf8_length(at, length - i);
        if (bytes != 0 && *at >= 0x20 && *at != '"' && *at != '\\') {
            i += bytes;
            continue;
        }
        (void)buf_append(out, text + plain, i - plain);
        if (bytes == 0)
            (void)buf_append_str(out, replacement);
        else
            append_escape(out, *at);
        i++;
        plain = i;
    }
    (void)buf_append(out, text + plain, length - plain);
    (void)buf_append_char(out, '"');
}

void json_key(struct json_writer *w, const char *key)
{
    if (!(w->in_object & level_bit(w)) || w->after_key)
        BUG("json: key '%s' out of place", key);
    comma(w);
    append_quoted(w->out, key, strlen(key));
    (void)buf_append_char(w->out, ':');
    w->after_key = true;
}

void json_write_raw(struct json_writer *w, const char *text, size_t length)
{
    place(w);
    (void)buf_append(w->out, text, length);
}

void json_write_null(struct json_writer *w)
{
    place(w);
    (void)buf_append_str(w->out, "null");
}

void json_write_string(struct json_writer *w, const char *text)
{
    if (!text) {
        json_write_null(w);
        return;
    }
    place(w);
    append_quoted(w->out, text, strlen(text));
}

void json_write_int(struct json_writer *w, int64_t value)
{
    place(w);
    (void)buf_printf(w->out, "%lld", (long long)value);
}

void json_write_bool(struct json_writer *w, bool value)
{
    place(w);
    (void)buf_append_str(w->out, value ? "true" : "false");
}

/*
 * The fewest digits that read back to the same value. Every double that has a decimal form of at
 * most 15 digits gets it from %.15g, since that form survives the way there and back; below DBL_MIN
 * the precision is less and the search starts at one digit. 17 always suffice.
 */
void json_write_real(struct json_writer *w, double value)
{
    char text[32];
    if (!isfinite(value)) {
        json_write_null(w);
        return;
    }
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    place(w);
    (void)buf_append_str(w->out, text);
    if (!strpbrk(text, ".e"))
        (void)buf_append_str(w->out, ".0"); /* so that it reads back as a real number */
}

void json_write_value(struct json_writer *w, const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        json_write_null(w);
        break;
    case JSON_BOOL:
        json_write_bool(w, value->boolean);
        break;
    case JSON_INT:
        json_write_int(w, value->integer);
        break;
    case JSON_REAL:
        json_write_real(w, value->real);
        break;
    case JSON_STRING:
        place(w);
        append_quoted(w->out, value->string, value->string_length);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        begin(w, value->type == JSON_OBJECT);
        for (const struct json *child = value->first; child; child = child->next) {
            if (child->key)
                json_key(w, child->key);
            json_write_value(w, child);
        }
        end(w, value->type == JSON_OBJECT);
        break;
    }
}

void json_put_string(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    json_write_string(w, text);
}

void json_put_int(struct json_writer *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_write_int(w, value);
}

void json_put_real(struct json_writer *w, const char *key, double value)
{
    json_key(w, key);
    json_write_real(w, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    json_key(w, key);
    json_write_bool(w, value);
}

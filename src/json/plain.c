/*
 * Documents that are certainly sound, told apart in one pass without memory. What a writer of ours
 * makes nearly always is: no spaces, strings of ASCII with short escapes, numbers that no limit is
 * near to. Anything else is left to the parser.
 */
#include "json/json.h"

#include <string.h>

/* Open brackets, keys of the objects that are open, bytes of a number. */
enum { MAX_OPEN = JSON_MAX_DEPTH - 1, MAX_KEYS = 256, MAX_DIGITS = 17, MAX_EXPONENT_DIGITS = 2 };

struct key {
    const char *text;
    size_t length;
};

struct scan {
    const char *at, *end;
    struct key keys[MAX_KEYS];
    size_t key_count;
    size_t first_key[MAX_OPEN]; /* of each open bracket; of arrays unused */
    bool is_object[MAX_OPEN];
    size_t depth;
};

static bool take(struct scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

/* After its first quote, up to the last; `*has_escape` where the text is not as it stands. */
static bool take_string(struct scan *scan, struct key *out, bool *has_escape)
{
    out->text = scan->at;
    *has_escape = false;
    for (; scan->at < scan->end; scan->at++) {
        const unsigned char c = (unsigned char)*scan->at;
        if (c == '"') {
            out->length = (size_t)(scan->at++ - out->text);
            return true;
        }
        if (c < ' ' || c > '~')
            return false;
        if (c != '\\')
            continue;
        *has_escape = true;
        if (++scan->at == scan->end || *scan->at == '\0' || !strchr("\"\\/bfnrt", *scan->at))
            return false;
    }
    return false;
}

static size_t take_digits(struct scan *scan)
{
    const char *const first = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return (size_t)(scan->at - first);
}

static bool take_number(struct scan *scan)
{
    (void)take(scan, '-');
    const char *const first = scan->at;
    const size_t digits = take_digits(scan);
    if (digits == 0 || digits > MAX_DIGITS || (digits > 1 && *first == '0'))
        return false;
    if (take(scan, '.')) {
        const size_t decimals = take_digits(scan);
        if (decimals == 0 || decimals > 2 * MAX_DIGITS)
            return false;
    }
    if (!take(scan, 'e') && !take(scan, 'E'))
        return true;
    if (!take(scan, '-'))
        (void)take(scan, '+');
    const size_t exponent = take_digits(scan);
    return exponent != 0 && exponent <= MAX_EXPONENT_DIGITS;
}

static bool take_word(struct scan *scan, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
        return false;
    scan->at += length;
    return true;
}

static bool open_bracket(struct scan *scan, bool is_object)
{
    if (scan->depth == MAX_OPEN)
        return false;
    scan->is_object[scan->depth] = is_object;
    scan->first_key[scan->depth++] = scan->key_count;
    return true;
}

static void close_bracket(struct scan *scan)
{
    scan->key_count = scan->first_key[--scan->depth];
}

/* A key that is new in its object, and the colon. */
static bool take_key(struct scan *scan)
{
    struct key key;
    bool has_escape = false;
    if (scan->key_count == MAX_KEYS || !take(scan, '"') || !take_string(scan, &key, &has_escape) ||
        has_escape || !take(scan, ':'))
        return false;
    for (size_t i = scan->first_key[scan->depth - 1]; i < scan->key_count; i++) {
        if (scan->keys[i].length == key.length &&
            memcmp(scan->keys[i].text, key.text, key.length) == 0)
            return false;
    }
    scan->keys[scan->key_count++] = key;
    return true;
}

/* A value up to its end; of an array or object that is not empty, only its beginning
 * (`*is_opened`). */
static bool take_value(struct scan *scan, bool *is_opened)
{
    struct key text;
    bool has_escape = false;
    *is_opened = false;
    if (scan->at == scan->end)
        return false;
    switch (*scan->at) {
    case '{':
    case '[': {
        const bool is_object = *scan->at++ == '{';
        if (!open_bracket(scan, is_object))
            return false;
        *is_opened = !take(scan, is_object ? '}' : ']');
        if (!*is_opened)
            close_bracket(scan);
        return true;
    }
    case '"':
        scan->at++;
        return take_string(scan, &text, &has_escape);
    case 't':
        return take_word(scan, "true");
    case 'f':
        return take_word(scan, "false");
    case 'n':
        return take_word(scan, "null");
    default:
        return take_number(scan);
    }
}

bool json_is_plain_object(const char *text, size_t length)
{
    struct scan scan = {.at = text, .end = text + length};
    bool is_opened = false;
    if (length == 0 || *text != '{' || !take_value(&scan, &is_opened))
        return false;
    while (scan.depth != 0) {
        if (scan.is_object[scan.depth - 1] && !take_key(&scan))
            return false;
        if (!take_value(&scan, &is_opened))
            return false;
        while (!is_opened && scan.depth != 0) {
            if (take(&scan, ','))
                break;
            if (!take(&scan, scan.is_object[scan.depth - 1] ? '}' : ']'))
                return false;
            close_bracket(&scan);
        }
    }
    return scan.at == scan.end;
}

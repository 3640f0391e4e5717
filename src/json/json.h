/*
 * JSON: values read with jansson into an arena, and a writer that gives one form for one content.
 *
 * Reading: strict UTF-8, duplicate keys and \u0000 refused (no string is cut short), depth at most
 * JSON_MAX_DEPTH (ERR_LIMIT), errors with line and column. Numbers are int64 where written as
 * integers (larger ones are refused), else double. A `struct json` tree lives as long as its arena
 * and is never changed. Any value may stand at the top.
 *
 * Writing: no spaces, keys in the order written, doubles in the shortest form that reads back to
 * the same value and to JSON_REAL ("1.0"), NaN and infinities as null, bytes that are no UTF-8 as
 * U+FFFD. The cap of the buffer holds: look at `out->truncated` at the end. Threads: any; the C
 * locale.
 */
#ifndef KOPE_JSON_JSON_H
#define KOPE_JSON_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_MAX_DEPTH = 64 };

enum json_type { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_type type;
    const char *key; /* in an object; else NULL */
    bool boolean;
    int64_t integer;
    double real; /* also set for JSON_INT */
    const char *string;
    size_t string_length;
    const struct json *first; /* children of an array or object, in order */
    const struct json *next;  /* next sibling */
    size_t count;             /* children */
};

/* `where` names the source in messages ("reply", a path). */
bool json_parse(const char *text, size_t length, const char *where, struct arena *arena,
                const struct json **out, struct err *err);

/* True: json_parse takes this text, also as an element of an array, and it is an object. False says
 * nothing. Several times as fast as to parse, for text of our own writer. */
bool json_is_plain_object(const char *text, size_t length);

/* Members; NULL where absent, where `object` is NULL or no object. */
const struct json *json_get(const struct json *object, const char *key);
const struct json *json_at(const struct json *array, size_t index);

/* Values with a default for NULL and for another type; an integer is also a real number. Two of
 * them have another name for the linker: jansson exports json_string and json_real and calls them
 * itself, and would be given ours. */
const char *json_string(const struct json *value,
                        const char *otherwise) __asm__("kope_json_string");
int64_t json_int(const struct json *value, int64_t otherwise);
double json_real(const struct json *value, double otherwise) __asm__("kope_json_real");
bool json_bool(const struct json *value, bool otherwise);

/* The writer keeps commas and nesting; a value outside its place is a bug. One writer, one value at
 * the top: begin with `{.out = &buf}`, and again for the next document. */
struct json_writer {
    struct buf *out;
    unsigned depth;
    uint64_t has_item;  /* a bit for each depth */
    uint64_t in_object; /* a bit for each depth; clear for an array */
    bool after_key;
    bool complete; /* the value at the top has begun */
};

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
void json_write_string(struct json_writer *w, const char *text); /* NULL writes null */
void json_write_int(struct json_writer *w, int64_t value);
void json_write_real(struct json_writer *w, double value);
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);
/* One value that this writer made before, as it stands. */
void json_write_raw(struct json_writer *w, const char *text, size_t length);
/* A value that was parsed, written again. */
void json_write_value(struct json_writer *w, const struct json *value);

/* key and value in one call. */
void json_put_string(struct json_writer *w, const char *key, const char *text);
void json_put_int(struct json_writer *w, const char *key, int64_t value);
void json_put_real(struct json_writer *w, const char *key, double value);
void json_put_bool(struct json_writer *w, const char *key, bool value);

#endif

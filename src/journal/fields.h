/*
 * Inside journal/: the body of an event as a table of fields. One table serves the writer and the
 * reader, so the two cannot disagree.
 */
#ifndef KOPE_JOURNAL_FIELDS_H
#define KOPE_JOURNAL_FIELDS_H

#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum field_type {
    FIELD_ID,    /* const char *, at most FIELD_ID_BYTES */
    FIELD_NAME,  /* const char *, at most FIELD_NAME_BYTES */
    FIELD_TEXT,  /* const char *, at most FIELD_TEXT_BYTES */
    FIELD_INT,   /* int64_t */
    FIELD_SEED,  /* uint64_t, as decimal text, since JSON integers end at 2^63 */
    FIELD_REAL,  /* double; what is not finite is null, and is read as 0 */
    FIELD_REACH, /* double of 0 and more, in which null stands for infinity */
    FIELD_BOOL   /* bool */
};

/* A writer cuts longer strings at the end of a character. A reader allows FIELD_SLACK times as
 * much, because bytes that are no UTF-8 grow when they are replaced. */
enum {
    FIELD_ID_BYTES = 128,
    FIELD_NAME_BYTES = 2048,
    FIELD_TEXT_BYTES = 64 * 1024,
    FIELD_SLACK = 3
};

struct field {
    const char *key;
    enum field_type type;
    bool is_required; /* a string must be there and not empty */
    size_t offset;    /* in the struct */
};

struct field_table {
    const char *what; /* "decision": named in messages */
    const struct field *fields;
    size_t count;
};

/* Members of the object that `w` has open. */
void fields_write(const struct field_table *table, const void *from, struct json_writer *w);

/* Sets each field of `out`: absent ones to 0, false and "". Strings are copied into the arena. On
 * false (ERR_CORRUPT) `out` may be half filled: read into a local. */
bool fields_read(const struct field_table *table, const struct json *object, struct arena *arena,
                 void *out, struct err *err);

/* One string, within `limit` bytes; as FIELD_TEXT. */
void field_put_text(struct json_writer *w, const char *key, const char *text, size_t limit);

/* `object[key]` as an array of at most `limit` items; absent: NULL, and true. */
bool field_read_array(const char *what, const struct json *object, const char *key, size_t limit,
                      const struct json **out, struct err *err);

/* As fields_read for a body: refuses what is no object. */
bool field_check_object(const char *what, const struct json *object, struct err *err);

#endif

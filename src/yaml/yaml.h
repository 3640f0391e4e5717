/*
 * YAML: a document read with libyaml into an arena, every node with its line and column.
 *
 * The subset that configuration needs: one document, block or flow mappings, sequences and scalars.
 * Anchors, aliases, tags and duplicate keys are errors; depth and size are capped (ERR_LIMIT).
 * Scalars stay text; the reader says what type it wants and gets an error that points at the place.
 * A plain scalar that is empty, '~' or 'null' reads as absent. An empty file is a mapping without
 * keys. Threads: any.
 */
#ifndef KOPE_YAML_YAML_H
#define KOPE_YAML_YAML_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { YAML_MAX_DEPTH = 16, YAML_MAX_NODES = 20000, YAML_MAX_BYTES = 1024 * 1024 };

enum yaml_type { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml {
    enum yaml_type type;
    const char *text;         /* scalar */
    bool quoted;              /* scalar in quotes: text, never a number or null */
    const char *tag;          /* of a document of a stream: "!Missed"; else NULL */
    const char *key;          /* in a mapping */
    int key_line, key_column; /* of the key, from 1 */
    int line, column;         /* of the value, from 1 */
    const struct yaml *first; /* children */
    const struct yaml *next;  /* next sibling */
    size_t count;
    const char *file; /* for messages */
};

bool yaml_parse(const char *text, size_t length, const char *file, struct arena *arena,
                const struct yaml **out, struct err *err);

/* A stream of documents, such as a program writes for others to read: each a mapping, whose tag is
 * kept. At most `most` of them are read, what follows is not looked at; limits count for each. */
bool yaml_parse_stream(const char *text, size_t length, const char *file, size_t most,
                       struct arena *arena, const struct yaml *const **out, size_t *out_count,
                       struct err *err);

/* A plain scalar that says 'no value': nothing, '~' or 'null'. */
bool yaml_is_null(const struct yaml *node);

const struct yaml *yaml_get(const struct yaml *mapping, const char *key);

/* ERR_BAD_INPUT "file:line:column: message"; returns false. */
bool yaml_error(const struct yaml *at, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Every key of `mapping` must be one of `allowed` (NULL-terminated): else an error at the key with
 * the nearest allowed word as the hint. A node that is no mapping is an error too. */
bool yaml_check_keys(const struct yaml *mapping, const char *const *allowed, struct err *err);

/* Typed reads. `mapping[key]`: required ones are errors where absent, others leave `*out`
 * untouched. A string lives as long as the arena. Numbers are decimal and finite, truth is true or
 * false; in quotes they are text and refused. */
bool yaml_read_string(const struct yaml *mapping, const char *key, bool required, const char **out,
                      struct err *err);
bool yaml_read_int(const struct yaml *mapping, const char *key, bool required, int64_t minimum,
                   int64_t maximum, int64_t *out, struct err *err);
bool yaml_read_real(const struct yaml *mapping, const char *key, bool required, double *out,
                    struct err *err);
bool yaml_read_bool(const struct yaml *mapping, const char *key, bool required, bool *out,
                    struct err *err);
/* One of `words`, as its index; the hint has the nearest, else all of them. */
bool yaml_read_word(const struct yaml *mapping, const char *key, bool required,
                    const char *const *words, size_t count, size_t *out, struct err *err);

#endif

/*
 * Between tree.c, which knows struct json, and load.c, which knows jansson. The two cannot meet in
 * one file: jansson has functions and enumerators of the same names as json.h.
 */
#ifndef KOPE_JSON_INTERNAL_H
#define KOPE_JSON_INTERNAL_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

/* Nodes in the arena. */
struct json *json_node_null(struct arena *arena);
struct json *json_node_bool(struct arena *arena, bool value);
struct json *json_node_int(struct arena *arena, int64_t value);
struct json *json_node_real(struct arena *arena, double value);
struct json *json_node_string(struct arena *arena, const char *text, size_t length);
struct json *json_node_array(struct arena *arena);
struct json *json_node_object(struct arena *arena);

/* Puts `child` behind `last`, the newest child of `parent` (NULL: it has none); `key` is copied. */
void json_node_add(struct arena *arena, struct json *parent, struct json *last, const char *key,
                   struct json *child);

/* The document as nodes; as json_parse, which checked the depth before. */
bool json_load(const char *text, size_t length, const char *where, struct arena *arena,
               struct json **out, struct err *err);

#endif

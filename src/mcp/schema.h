/*
 * JSON Schema, the part that tools use: type, enum, const, properties, required,
 * additionalProperties (false or a schema), items, minItems, maxItems, minimum, maximum, minLength,
 * maxLength, anyOf, $ref within the document ("#/..."). Other keywords are not looked at. Pure.
 */
#ifndef KOPE_MCP_SCHEMA_H
#define KOPE_MCP_SCHEMA_H

#include "base/err.h"
#include "json/json.h"

#include <stdbool.h>

/* ERR_USAGE naming the place ("'arguments.budget' must be integer, not string"), with `where` as
 * the name of the whole. `value` NULL counts as an empty object. */
bool schema_check(const struct json *schema, const struct json *value, const char *where,
                  struct err *err);

#endif

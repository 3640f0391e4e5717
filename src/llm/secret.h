/*
 * A key, for the length of one call: read from the environment, put into one header, and taken out
 * of everything that comes back.
 */
#ifndef KOPE_LLM_SECRET_H
#define KOPE_LLM_SECRET_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The value of `variable`, NULL where unset; ERR_BAD_INPUT, without the value, where it holds a
 * byte that cannot stand in a header. */
bool secret_read(const char *variable, const char **out, struct err *err);

/* `text` with every occurrence of `secret` replaced by "[key]"; a copy in the arena where anything
 * was replaced. Values under 8 bytes are placeholders of local servers ("none", "EMPTY") and not
 * looked for: they would be found in any text. */
const char *secret_redact(const char *secret, const char *text, struct arena *arena);

#endif

/*
 * Strings: small questions about text, and numbers read strictly.
 * Pure functions; no ownership, safe from any thread.
 */
#ifndef KOPE_BASE_STR_H
#define KOPE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool str_equal(const char *a, const char *b);
bool str_starts_with(const char *text, const char *prefix);
bool str_ends_with(const char *text, const char *suffix);

/* The whole text must be one number within range; the output is untouched on false. */
bool str_parse_int64(const char *text, int64_t *out);
bool str_parse_double(const char *text, double *out);

/* "90", "90s", "10m", "2h", "250ms": a duration in ns, at least 0; false where it is none. */
bool str_parse_duration_ns(const char *text, int64_t *out_ns);

/* Letters, digits and underscore, not beginning with a digit: a C identifier of at most 63 bytes.
 */
bool str_is_identifier(const char *text);

/* Replaces each control character by '?' in place, newline and tab excepted, and the C1 controls in
 * their UTF-8 form: so that text from outside cannot steer a terminal. */
void str_make_printable(char *text);

/* How many of the first `length` bytes are kept where at most `most_bytes` may be: never a part of
 * a UTF-8 character. */
size_t str_cut_length(const char *text, size_t length, size_t most_bytes);

/* Edit distance (Levenshtein) capped at 32-byte words; for 'did you mean'. */
size_t str_edit_distance(const char *a, const char *b);

/* The nearest of `count` words, or NULL where none is near enough to be meant. */
const char *str_nearest(const char *word, const char *const *words, size_t count);

#endif

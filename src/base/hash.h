/*
 * Hashes: SHA-256 for content ids (from libcrypto), CRC-32C for torn records, FNV-1a for tables.
 * Pure functions, safe from any thread.
 *
 * A content id is the first 128 bits of a SHA-256 as 32 hexadecimal digits: long enough that nobody
 * finds two contents with one id by trying, short enough to read. Short forms are unique prefixes.
 */
#ifndef KOPE_BASE_HASH_H
#define KOPE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_ID_CHARS = 32, HASH_ID_BYTES = HASH_ID_CHARS + 1, HASH_SHA256_BYTES = 32 };

struct hash_id {
    char text[HASH_ID_BYTES]; /* lower-case hexadecimal, NUL-terminated; "" is no id */
};

/* The id of some bytes. */
struct hash_id hash_content(const void *data, size_t length);

/* The id of several strings as one content; each is preceded by its length, so that ("ab", "c") and
 * ("a", "bc") differ. A NULL string differs from an empty one. */
struct hash_id hash_strings(const char *const *strings, size_t count);

/* CRC-32C (Castagnoli, reflected, as in RFC 3720) of `data`, continuing from `crc` (0 to begin). */
uint32_t hash_crc32c(uint32_t crc, const void *data, size_t length);

/* FNV-1a, 64 bits; for hash tables and seeds, never for identity. */
uint64_t hash_fnv1a(const void *data, size_t length);

#endif

/*
 * Arenas: memory with three lifetimes (process, run, step), freed as a whole.
 *
 * A function that returns memory takes a `struct arena *`; what it returns lives until arena_free.
 * A zeroed struct is an empty arena: `CLEANUP(arena_free) struct arena step = {0};`
 * Running out of memory is a bug here; whatever is sized from outside goes through a capped
 * `struct buf` first. Threads: one arena, one thread.
 */
#ifndef KOPE_BASE_ARENA_H
#define KOPE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/* Calls `function(&variable)` when the variable goes out of scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used_bytes;          /* handed out since the last arena_free */
};

/* `bytes` zeroed bytes, aligned for any type; never NULL. */
void *arena_alloc(struct arena *arena, size_t bytes) __attribute__((malloc, returns_nonnull));

/* An array of `count` zeroed items; an overflow of count x bytes is a bug. */
void *arena_array(struct arena *arena, size_t count, size_t item_bytes)
    __attribute__((malloc, returns_nonnull));

/* Copies: of a string, of the first `length` bytes (a NUL is added), of any bytes. */
char *arena_strdup(struct arena *arena, const char *text) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *arena, const char *text, size_t length)
    __attribute__((returns_nonnull));
void *arena_memdup(struct arena *arena, const void *data, size_t bytes)
    __attribute__((returns_nonnull));

/* A formatted string. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0), returns_nonnull));

/* Frees everything that the arena handed out; the arena can be used again. */
void arena_free(struct arena *arena);

#endif

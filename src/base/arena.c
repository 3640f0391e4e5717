#include "base/arena.h"

#include "base/err.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t capacity;
    alignas(max_align_t) unsigned char data[];
};

void *arena_alloc(struct arena *arena, size_t bytes)
{
    const size_t unit = alignof(max_align_t);
    if (bytes > SIZE_MAX / 2)
        BUG("arena: %zu bytes asked for", bytes);
    const size_t need = (bytes + unit - 1) / unit * unit;
    struct arena_block *block = arena->blocks;
    if (!block || block->capacity - block->used < need) {
        const size_t capacity = need > BLOCK_BYTES ? need : BLOCK_BYTES;
        block = calloc(1, sizeof *block + capacity);
        if (!block)
            BUG("arena: out of memory for %zu bytes", capacity);
        block->capacity = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *out = block->data + block->used;
    block->used += need;
    arena->used_bytes += need;
    return out;
}

void *arena_array(struct arena *arena, size_t count, size_t item_bytes)
{
    if (item_bytes != 0 && count > SIZE_MAX / 2 / item_bytes)
        BUG("arena: array of %zu items of %zu bytes", count, item_bytes);
    return arena_alloc(arena, count * item_bytes);
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *out = arena_alloc(arena, length + 1);
    if (length != 0)
        memcpy(out, text, length);
    return out;
}

void *arena_memdup(struct arena *arena, const void *data, size_t bytes)
{
    void *out = arena_alloc(arena, bytes);
    if (bytes != 0)
        memcpy(out, data, bytes);
    return out;
}

/* Most texts are short: formatted once, where they fit. */
enum { SHORT_TEXT_BYTES = 512 };

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char text[SHORT_TEXT_BYTES];
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(text, sizeof text, format, args);
    if (length < 0)
        BUG("arena: bad format '%s'", format);
    char *out = arena_alloc(arena, (size_t)length + 1);
    if ((size_t)length < sizeof text)
        memcpy(out, text, (size_t)length + 1);
    else
        (void)vsnprintf(out, (size_t)length + 1, format, again);
    va_end(again);
    return out;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *out = arena_vprintf(arena, format, args);
    va_end(args);
    return out;
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct arena){0};
}

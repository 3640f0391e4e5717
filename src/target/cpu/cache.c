#include "target/cpu/cpu.h"

#include "base/str.h"

#include <stdlib.h>

/* The last builds, newest first; the oldest go when there are too many or they are too large. */
enum { MOST_ENTRIES = 64 };
#define MOST_BYTES ((size_t)64 * 1024 * 1024)

struct entry {
    struct entry *next;
    struct hash_id key;
    struct arena arena;
    struct build_result result;
};

struct build_cache {
    struct entry *entries;
};

static const char *copy_text(const char *text, struct arena *arena)
{
    return text ? arena_strdup(arena, text) : NULL;
}

struct build_result build_result_copy(const struct build_result *result, struct arena *arena)
{
    struct build_result copy = *result;
    copy.mechanism = copy_text(result->mechanism, arena);
    copy.evidence = copy_text(result->evidence, arena);
    copy.diagnostics = copy_text(result->diagnostics, arena);
    copy.disassembly_path = copy_text(result->disassembly_path, arena);
    if (result->image)
        copy.image = arena_memdup(arena, result->image, result->image_bytes);
    return copy;
}

const struct build_result *cache_find(struct build_cache *cache, struct hash_id key)
{
    for (const struct entry *e = cache ? cache->entries : NULL; e; e = e->next) {
        if (str_equal(e->key.text, key.text))
            return &e->result;
    }
    return NULL;
}

static void free_from(struct entry **link)
{
    while (*link) {
        struct entry *gone = *link;
        *link = gone->next;
        arena_free(&gone->arena);
        free(gone);
    }
}

static void shrink(struct build_cache *cache)
{
    size_t count = 0, bytes = 0;
    for (struct entry **link = &cache->entries; *link; link = &(*link)->next) {
        bytes += (*link)->arena.used_bytes;
        if (++count > MOST_ENTRIES || (count > 1 && bytes > MOST_BYTES)) {
            free_from(link);
            return;
        }
    }
}

void cache_keep(struct build_cache **cache, struct hash_id key, const struct build_result *result)
{
    if (!*cache)
        *cache = calloc(1, sizeof **cache);
    struct entry *entry = calloc(1, sizeof *entry);
    if (!*cache || !entry)
        BUG("out of memory");
    entry->key = key;
    entry->result = build_result_copy(result, &entry->arena);
    entry->next = (*cache)->entries;
    (*cache)->entries = entry;
    shrink(*cache);
}

void cache_free(struct build_cache **cache)
{
    if (*cache)
        free_from(&(*cache)->entries);
    free(*cache);
    *cache = NULL;
}

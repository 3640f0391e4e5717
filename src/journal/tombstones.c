/*
 * Tombstones: the ids that events of kind "prune" name. An event with such an id is not there any
 * more, wherever its record still stands: in a segment that was not rewritten yet, or in another
 * memory that is merged. A prune event itself cannot be pruned.
 */
#include "journal/event.h"
#include "journal/internal.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct collecting {
    struct hash_id *ids;
    size_t count, capacity;
};

/* One that its decoder refuses names nothing. */
static bool collect(void *context, const struct event *event, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct collecting *to = context;
    struct prune_event prune;
    struct err refused;
    (void)err;
    if (!event_read_prune(event->body, &scratch, &prune, &refused))
        return true;
    if (to->count + prune.id_count > to->capacity) {
        to->capacity = 2 * (to->count + prune.id_count);
        struct hash_id *grown = realloc(to->ids, to->capacity * sizeof *grown);
        if (!grown)
            BUG("journal: out of memory for %zu tombstones", to->capacity);
        to->ids = grown;
    }
    if (prune.id_count != 0)
        memcpy(to->ids + to->count, prune.ids, prune.id_count * sizeof *prune.ids);
    to->count += prune.id_count;
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct hash_id *)a)->text, ((const struct hash_id *)b)->text);
}

bool index_is_pruned(const struct index *index, const struct hash_id *id)
{
    return index->pruned_count != 0 &&
           bsearch(id, index->pruned, index->pruned_count, sizeof *id, compare_ids) != NULL;
}

/* The prune events of the index, as an index of their own that shares its segments. */
static struct index prune_events(const struct index *index, struct arena *arena)
{
    size_t count = 0;
    for (size_t i = 0; i < index->count; i++)
        count += index->entries[i].is_prune;
    struct index part = {.segments = index->segments, .segment_count = index->segment_count};
    part.entries = arena_array(arena, count, sizeof *part.entries);
    for (size_t i = 0; i < index->count; i++)
        if (index->entries[i].is_prune)
            part.entries[part.count++] = index->entries[i];
    return part;
}

bool index_drop_pruned(struct index *index, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct collecting found = {0};
    const struct index part = prune_events(index, &scratch);
    if (part.count == 0)
        return true;
    if (!index_deliver(&part, collect, &found, err)) {
        free(found.ids);
        return false;
    }
    if (found.count != 0)
        qsort(found.ids, found.count, sizeof *found.ids, compare_ids);
    index->pruned = found.ids;
    index->pruned_count = found.count;
    struct index_entry *hidden = arena_array(&scratch, index->count, sizeof *hidden);
    size_t kept = 0;
    for (size_t i = 0; i < index->count; i++) {
        if (index->entries[i].is_prune || !index_is_pruned(index, &index->entries[i].id))
            index->entries[kept++] = index->entries[i];
        else
            hidden[index->hidden++] = index->entries[i];
    }
    index->count = kept;
    if (index->hidden != 0)
        memcpy(index->entries + kept, hidden, index->hidden * sizeof *hidden);
    return true;
}

#include "moves/nest/taken.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

#include <string.h>

struct taken taken_begin(size_t most, struct arena *arena)
{
    size_t size = 16;
    while (size < 2 * most + 2)
        size *= 2;
    return (struct taken){.slots = arena_array(arena, size, sizeof(struct taken_name)),
                          .mask = size - 1};
}

/* The slot of the name, or the free one where it would be. */
static struct taken_name *slot_of(const struct taken *taken, const char *name)
{
    size_t at = (size_t)hash_fnv1a(name, strlen(name)) & taken->mask;
    while (taken->slots[at].name && !str_equal(taken->slots[at].name, name))
        at = (at + 1) & taken->mask;
    return &taken->slots[at];
}

bool taken_has(const struct taken *taken, const char *name)
{
    return slot_of(taken, name)->name != NULL;
}

void taken_add(struct taken *taken, const char *name)
{
    struct taken_name *slot = slot_of(taken, name);
    if (slot->name)
        return;
    if (taken->count++ == taken->mask)
        BUG("more than %zu names", taken->mask);
    *slot = (struct taken_name){.name = name, .next = 2};
}

const char *taken_number(struct taken *taken, const char *wish, struct arena *arena)
{
    struct taken_name *slot = slot_of(taken, wish);
    const char *name = NULL;
    do {
        name = arena_printf(arena, "%s%d", wish, slot->next++);
    } while (taken_has(taken, name));
    taken_add(taken, name);
    return name;
}

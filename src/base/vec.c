#include "base/vec.h"

#include "base/err.h"

#include <stdint.h>
#include <stdlib.h>

void *vec_reserve_one(void *items, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity && items)
        return items;
    const size_t wanted = *capacity ? *capacity * 2 : 8;
    if (wanted > SIZE_MAX / 2 / item_bytes)
        BUG("vec: %zu items of %zu bytes", wanted, item_bytes);
    void *grown = realloc(items, wanted * item_bytes);
    if (!grown)
        BUG("vec: out of memory for %zu items", wanted);
    *capacity = wanted;
    return grown;
}

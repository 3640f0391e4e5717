/*
 * Growing arrays: one function, used by whoever keeps `items`, `count` and `capacity` side by side.
 */
#ifndef KOPE_BASE_VEC_H
#define KOPE_BASE_VEC_H

#include <stddef.h>

/*
 * Memory for at least `count + 1` items of `item_bytes`: `items` itself where its `*capacity` is
 * enough, else a larger block from malloc with the old contents; `*capacity` follows. The caller
 * frees the block. Running out of memory is a bug.
 */
void *vec_reserve_one(void *items, size_t count, size_t *capacity, size_t item_bytes)
    __attribute__((returns_nonnull));

#endif

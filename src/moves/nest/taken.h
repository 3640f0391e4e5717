/* A table of names that are taken; for sources of many hundred loops. Inside moves/nest. */
#ifndef KOPE_MOVES_NEST_TAKEN_H
#define KOPE_MOVES_NEST_TAKEN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct taken_name {
    const char *name; /* NULL: the slot is free */
    int next;         /* the first number behind it that may be free */
};

struct taken {
    struct taken_name *slots; /* open addressing; a power of two of them */
    size_t mask, count;
};

/* Room for `most` names, from the arena; more are a bug. */
struct taken taken_begin(size_t most, struct arena *arena);
bool taken_has(const struct taken *taken, const char *name);
/* The text is kept, not copied; nothing changes where it is there already. */
void taken_add(struct taken *taken, const char *name);
/* The first of "wish2", "wish3", ... that is not taken yet, which it then is; `wish` is taken. */
const char *taken_number(struct taken *taken, const char *wish, struct arena *arena);

#endif

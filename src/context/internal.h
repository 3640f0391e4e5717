/* Inside context/: an item that may go into the prompt, before it is chosen. */
#ifndef KOPE_CONTEXT_INTERNAL_H
#define KOPE_CONTEXT_INTERNAL_H

#include "base/vec.h"
#include "context/context.h"

enum { CONTEXT_MAX_ITEMS = 256 };

struct entry {
    struct context_item item;
    const char *text;      /* ends with a newline */
    const char *diversity; /* items alike share it: the moves, or the first words of a failure */
    bool is_failure;
    bool is_chosen;
};

struct entries {
    struct entry items[CONTEXT_MAX_ITEMS];
    size_t count;
};

/* Adds an entry with its bytes and tokens counted; a full list drops it (returns NULL). */
struct entry *entries_add(struct entries *entries, const char *section, const char *kind,
                          const char *ref, const char *text);

/* Retrieves what experience says about this task: positive and negative, scored in expected
 * log-speedup. */
bool context_retrieve(struct graph *graph, const struct context_request *request,
                      struct arena *arena, struct entries *out, struct err *err);

/* The epoch goes on from this context. */
void epoch_keep(struct context_epoch *epoch, const struct context *context);

/* Chooses warm entries by score per token within `tokens`; failures have a fifth of it to
 * themselves; like ones pay a penalty; a random share is withheld with its propensity noted. */
void context_choose(struct entries *warm, int64_t tokens, double withhold_share, uint64_t seed);

#endif

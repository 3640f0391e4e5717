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

struct draft {
    const char *system, *facts, *task, *hot;
    struct entries *cold, *warm;
    /* Where an epoch goes on: what is kept of it, in front of `warm`. */
    const struct context_epoch *kept;
};

/* The parts that every prompt has, and empty lists. */
void context_draft(const struct context_request *request, struct arena *arena, struct draft *out);
/* The whole from its parts: `prefix` is all of the user's text before HOT and begins with facts and
 * task. */
void context_put_together(const struct draft *draft, const char *prefix, struct arena *arena,
                          struct context *out);
/* The ledger's rows of those parts: the first CONTEXT_REQUIRED_ITEMS of `items`. */
enum { CONTEXT_REQUIRED_ITEMS = 4 };
void context_add_required(const struct draft *draft, struct context_item *items);

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

/* Inside context/: an item that may go into the prompt, before it is chosen. */
#ifndef KOPE_CONTEXT_INTERNAL_H
#define KOPE_CONTEXT_INTERNAL_H

#include "base/vec.h"
#include "context/context.h"
#include "graph/findings.h"

enum { CONTEXT_MAX_ITEMS = 256 };

struct entry {
    struct context_item item;
    const char *text;   /* ends with a newline */
    const char *key;    /* items alike share words of it: the moves, or the first of a failure */
    const char *beside; /* ref of the entry that this one contradicts and stands beside; "" */
    bool is_failure;
    bool has_lost; /* timed, and slower than what it went on from */
    bool is_contradicted;
    bool is_chosen;
    uint64_t features; /* of context_choose: a bit for each word of the key */
    double novelty;    /* of context_choose: 1 where nothing like it is chosen */
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

/* Is `word` one of the words that stand between single spaces? */
bool entry_has_word(const char *words, const char *word);

/* Retrieves what experience says about this task: positive and negative, scored in expected
 * log-speedup. */
bool context_retrieve(struct graph *graph, const struct context_request *request,
                      const struct transfer *transfer, struct arena *arena, struct entries *out,
                      struct err *err);

/* ---- score.c: worth in expected log-speedup. */
double score_decision(const struct context_request *request, const struct transfer *transfer,
                      const struct graph_decision *d, const char *kinds);
double score_belief(const struct transfer_belief *belief);
/* Timed, and slower than what it went on from, or refuted. */
bool decision_lost(const struct graph_decision *d);

/* The epoch goes on from this context. */
void epoch_keep(struct context_epoch *epoch, const struct context *context);

/* What contradicts an entry and stands beside it; NULL: nothing. */
struct entry *contradiction_of(struct entries *warm, const struct entry *entry);

/* Chooses warm entries by score per token within `tokens`; failures have a fifth of it to
 * themselves; like ones pay a penalty; a random share is withheld with its propensity noted. */
void context_choose(struct entries *warm, int64_t tokens, double withhold_share, uint64_t seed);

#endif

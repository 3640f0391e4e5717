/*
 * Active context: the bounded prompt of one step, from experience.
 *
 * Sections in prefix-cache order: SYSTEM (role and reply contract), FACTS (hardware and toolchain),
 * TASK (task and reference), COLD (broader knowledge: language rules, catalogue of moves), WARM
 * (retrieved decisions and outcomes, positive and negative), HOT (current best source, last
 * outcomes of this path, finding, what is asked). The budget is a hard bound by tokens_bound. Hot
 * state is required: where it alone exceeds the budget, ERR_BUDGET. Every item is in the ledger
 * with its bytes, tokens, score and propensity; a small random share of warm items is withheld.
 * Pure but for the graph's queries.
 */
#ifndef KOPE_CONTEXT_CONTEXT_H
#define KOPE_CONTEXT_CONTEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/graph.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context_request {
    const struct task *task;
    const char *target_id;
    const char *facts;                 /* hardware and toolchain in words */
    const char *system;                /* role and reply contract */
    const char *cold;                  /* broader knowledge, may be "" */
    const char *current_source;        /* of the node to go on from; NULL: the reference itself */
    const char *current_summary;       /* its verdict in a line; "" */
    const struct graph_decision *path; /* last outcomes of this path, oldest first */
    size_t path_count;
    const char *finding;   /* profile finding in words; "" */
    const char *ask;       /* what is asked for now */
    int64_t budget_tokens; /* 0: 16000 */
    double withhold_share; /* 0: none */
    uint64_t seed;
};

struct context {
    const char *text;        /* the whole prompt: all sections in order */
    const char *system_text; /* the first message; `user_text` the second: text = system + user */
    const char *user_text;
    int64_t tokens, bytes, budget_tokens;
    const struct context_item *items;
    size_t item_count;
    struct hash_id prefix_hash; /* of all before HOT */
};

bool context_build(struct graph *graph, const struct context_request *request, struct arena *arena,
                   struct context *out, struct err *err);

/* The ledger as a table of text: a row for each item, a sum for each section. */
char *context_ledger(const struct context *context, struct arena *arena);

#endif

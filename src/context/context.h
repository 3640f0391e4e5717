/*
 * Active context: the bounded prompt of one step, from experience.
 *
 * Sections in prefix-cache order: SYSTEM (role and reply contract), FACTS (hardware and toolchain),
 * TASK (task and reference), COLD (broader knowledge: language rules, catalogue of moves), WARM
 * (retrieved decisions and outcomes, positive and negative), HOT (current best source, last
 * outcomes of this path, finding, what is asked). The budget is a hard bound by tokens_bound. Hot
 * state is required: where it alone exceeds the budget, ERR_BUDGET. Every item is in the ledger
 * with its bytes, tokens, score and propensity; a small random share of warm items is withheld.
 *
 * What stands before HOT stays the same byte for byte while an epoch lasts, so that a server's
 * prefix cache holds it: COLD is pinned, WARM only grows at its end. Nothing there changes with the
 * clock or from one machine's measurement to the next: no time, no id, no count of what is left.
 * Pure but for the graph's queries and the request's `order`.
 */
#ifndef KOPE_CONTEXT_CONTEXT_H
#define KOPE_CONTEXT_CONTEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "context/transfer.h"
#include "graph/graph.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stays between the steps of a run. Zeroed: nothing yet; free with context_epoch_free. */
struct context_epoch {
    struct arena arena;
    const char *prefix; /* of the user's text: all before HOT; NULL before the first */
    const struct context_item *items; /* cold and warm, in the order of the text */
    size_t item_count;
    int64_t number; /* of epochs so far */
};
void context_epoch_free(struct context_epoch *epoch);
/* `to` is freed first, and a value of its own after. */
void context_epoch_copy(const struct context_epoch *from, struct context_epoch *to);

/* Takes up the epoch of a recorded context: its whole text, the system's part of it, its items. A
 * record that does not fit together begins a new epoch. */
void context_epoch_restore(struct context_epoch *epoch, const char *text, const char *system_text,
                           const struct context_item *items, size_t item_count);

/* The decision or name behind a label of WARM ("E3") among items; NULL where there is none. */
const char *context_label_ref(const struct context_item *items, size_t count, const char *label);

/* Puts evidence in order, best first: `order` holds 0 .. count - 1 and is changed in place. */
struct context_order {
    bool (*order)(void *context, const char *const *texts, size_t count, size_t *order,
                  struct err *err);
    void *context;
};

/* One attempt of the run, for the passive context. */
struct context_attempt {
    const char *decision_id, *source;
    const char *outcome; /* context_path_line */
};

/* What the caller knows that applies here: a verified skill, a rule that a candidate could break,
 * what steps gained where the same was found as here.
 * It competes with what memory holds for a place in WARM: there it has a label to be cited by, is
 * withheld at random like any other item, and one that is born within an epoch is added at the end.
 * A rule counts as a failure to avoid. */
#define CONTEXT_SKILL "skill"
#define CONTEXT_RULE "rule"
#define CONTEXT_FINDING "finding"
struct context_offer {
    const char *kind; /* one of these */
    const char *ref;  /* its name or id: the same in every step */
    const char *text; /* what the model reads, one line or a few; the same in every step */
    double score;     /* expected gain in log-ratio of showing it; one of 0 is never shown */
};

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
    const char *path_summary;   /* what came before the last outcomes of the path, in short; NULL */
    const char *finding;        /* profile finding in words; "" */
    const char *findings;       /* of tools, a line each; NULL or "" */
    const char *finding_kinds;  /* of both, with blanks between: "chain latency"; NULL or "" */
    const char *current_recipe; /* of current_source; NULL or "": it has none */
    double current_log_ratio;   /* of current_source over the baseline; 0 for the reference */
    const struct transfer *transfer;    /* what experience is worth here; NULL: by its priors */
    const char *ask;                    /* what is asked for now */
    const struct context_offer *offers; /* skills and rules, any order */
    size_t offer_count;
    int64_t budget_tokens; /* 0: 16000 */
    double withhold_share; /* 0: none */
    uint64_t seed;
    struct context_epoch *epoch;           /* NULL: a prompt on its own */
    const struct context_order *order;     /* asked where an epoch begins; NULL: by score */
    const struct context_attempt *history; /* passive only: all attempts of the run, oldest first */
    size_t history_count;
};

/* Lines of the path that are shown one by one. */
enum { CONTEXT_PATH_LINES = 8 };
/* A line of a path, as HOT shows it. */
const char *context_path_line(const struct graph_decision *d, struct arena *arena);

struct context {
    const char *text;        /* the whole prompt: all sections in order */
    const char *system_text; /* the first message; `user_text` the second: text = system + user */
    const char *user_text;
    const char *facts, *task_text, *experience, *hot; /* user_text in its parts, in order */
    int64_t tokens, bytes, budget_tokens;
    const struct context_item *items;
    size_t item_count;
    struct hash_id prefix_hash; /* of all before HOT */
};

bool context_build(struct graph *graph, const struct context_request *request, struct arena *arena,
                   struct context *out, struct err *err);

/* The passive context, for comparison: machine, task, every attempt of this run in full, HOT. No
 * retrieval and no choice; `budget_tokens` (0: 200000) is the window, and where it is full the
 * oldest attempts are left out. ERR_BUDGET where even none of them fits. */
bool context_build_passive(const struct context_request *request, struct arena *arena,
                           struct context *out, struct err *err);

/* The ledger as a table of text: a row for each item, a sum for each section. */
char *context_ledger(const struct context *context, struct arena *arena);

#endif

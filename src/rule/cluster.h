/*
 * From failures to rules: one cluster for each root cause, and the predicate that foretells it.
 *
 * A cluster becomes a rule where it has RULE_LEAST_OCCURRENCES failures of RULE_LEAST_CANDIDATES
 * different candidates: one source that is tried again and again teaches nothing about others. What
 * the host did is in no cluster, and neither is a candidate that was judged in two ways (flaky: it
 * passed and failed, or failed of two causes, on one target). Causes that only a run shows form
 * clusters too, but no rules: no build reproduces them.
 *
 * Used by the engine at the end of a run, and by 'kope rule'. Pure; results are the arena's.
 */
#ifndef KOPE_RULE_CLUSTER_H
#define KOPE_RULE_CLUSTER_H

#include "rule/cause.h"
#include "rule/predicate.h"

enum { RULE_LEAST_OCCURRENCES = 3, RULE_LEAST_CANDIDATES = 2 };

/* One outcome of a candidate. */
struct observation {
    const char *decision_id;
    const char *candidate; /* identity of source, compiler and flags */
    const char *target_id;
    bool is_built;      /* it was built, whatever came of it then */
    bool is_cancelled;  /* by a rule: nothing was observed */
    struct cause cause; /* where it failed; no lesson where it did not */
};

struct cluster {
    struct cause cause;    /* of its first member */
    const size_t *members; /* indices of observations, in their order */
    size_t count;
    size_t candidates; /* different ones */
    size_t flaky;      /* failures of this key that were left out */
    bool makes_rule;   /* often enough, and a build shows it */
};

struct clusters {
    struct cluster *items; /* most failures first */
    size_t count;
    size_t host_faults, flaky; /* failures that count nowhere */
};

struct clusters rule_cluster(const struct observation *all, size_t count, struct arena *arena);

/* The first predicate that holds for the samples and for none of the sources that passed: for all
 * samples, else for most of them, at least for half. NULL where there is none. `*covered` counts
 * the samples. */
const char *rule_find_predicate(const struct cause *cause, const struct rule_sample *samples,
                                size_t count, const struct rule_source *const *passed,
                                size_t passed_count, size_t *covered, struct arena *arena);

#endif

/*
 * Rules in the graph: what each is, and each time that it was put to the test. Rows and text only;
 * what a predicate means, module rule knows.
 *
 * A definition belongs to the latest event by the journal's clock, checks are a set: so two
 * memories merge to the same rules in either order.
 */
#ifndef KOPE_GRAPH_RULES_H
#define KOPE_GRAPH_RULES_H

#include "graph/graph.h"

struct graph_rule {
    const char *id, *cause, *words, *predicate, *reproducer_body, *flags, *dtype, *task_id,
        *task_dir, *evidence;
    int64_t occurrences, candidates, wall_ms;
    bool is_contradicted;
    int64_t hits;           /* candidates that it refused: builds that were saved */
    int64_t upheld, missed; /* of those that were let through */
};
/* All of them, by cause. */
bool graph_rules(struct graph *graph, struct arena *arena, const struct graph_rule **out,
                 size_t *out_count, struct err *err);

struct graph_rule_check {
    const char *id, *result, *compiler, *compiler_family, *compiler_version, *target_id,
        *decision_id, *reason;
};
/* Of one rule, oldest first. */
bool graph_rule_checks(struct graph *graph, const char *rule_id, struct arena *arena,
                       const struct graph_rule_check **out, size_t *out_count, struct err *err);

/* Outcomes that rules are made of: those of the newest `limit` decisions that failed before they
 * were run, and of the same candidates wherever else they were judged; oldest first. */
struct graph_failure {
    const char *decision_id, *candidate_id, *target_id, *task_id, *task_dir, *entry, *dtype;
    enum verdict_kind kind;
    const char *mechanism, *evidence, *diagnostics_body;
    const char *source_body, *compiler, *flags;
};
bool graph_failures(struct graph *graph, size_t limit, struct arena *arena,
                    const struct graph_failure **out, size_t *out_count, struct err *err);
/* The newest `limit` candidates that were built, in the same form; "" for what they lack. */
bool graph_successes(struct graph *graph, size_t limit, struct arena *arena,
                     const struct graph_failure **out, size_t *out_count, struct err *err);

#endif

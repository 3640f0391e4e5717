/*
 * Skills in the graph: what each is, what was measured of it, what it now counts as. Rows and text
 * only; what a predicate means and what a posterior is, module skill knows.
 *
 * A definition and a state belong to the latest event by the journal's clock, evidence is a set: so
 * two memories merge to the same skills in either order.
 */
#ifndef KOPE_GRAPH_SKILLS_H
#define KOPE_GRAPH_SKILLS_H

#include "graph/graph.h"

struct graph_skill {
    const char *id, *name, *intent, *applies, *needs, *change, *breaks, *origin, *learned_on;
    const char *before_body, *after_body;
    const char *build; /* compiler and flags of the example, separated by spaces; "" */
    const char *state; /* "candidate" until an event says otherwise */
    const char *reason;
    int64_t evidence_count;
};

/* All of them, by name; those of one name the latest first. */
bool graph_skills(struct graph *graph, struct arena *arena, const struct graph_skill **out,
                  size_t *out_count, struct err *err);

struct graph_skill_evidence {
    const char *id, *kind, *decision_id, *task_id, *task_name, *family, *regime, *target_id,
        *verdict, *text;
    double log_ratio, log_low, log_high;
    int64_t wall_ms;
};
/* Of one skill, oldest first. */
bool graph_skill_evidence(struct graph *graph, const char *skill_id, struct arena *arena,
                          const struct graph_skill_evidence **out, size_t *out_count,
                          struct err *err);

/* How well the skills' names and intents match any text (BM25, more is better); those that share no
 * word with it are left out. */
struct graph_skill_match {
    const char *skill_id;
    double score;
};
bool graph_match_skills(struct graph *graph, const char *words, struct arena *arena,
                        const struct graph_skill_match **out, size_t *out_count, struct err *err);

#endif

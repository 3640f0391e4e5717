/* Inside engine/: the history of skills is written here. */
#ifndef KOPE_ENGINE_SKILL_STORE_H
#define KOPE_ENGINE_SKILL_STORE_H

#include "engine/internal.h"
#include "engine/skill.h"

/* Writes the definition where the memory lacks it. */
bool skill_store_define(struct memory *memory, const struct graph_skill *skill, bool *is_new,
                        struct err *err);
bool skill_store_state(struct memory *memory, const char *skill_id, enum skill_state state,
                       const char *reason, struct err *err);

/* What was measured of a skill in a run: `kind` "trial", "lineage", "ablation", "reuse" or
 * "failure"; the verdict gives kind and evidence, the interval is given. */
struct skill_measurement {
    const char *skill_id, *kind, *decision_id, *text;
    const char *verdict;
    double log_ratio, log_low, log_high;
};
bool skill_store_evidence(struct run *run, const struct skill_measurement *m, struct err *err);

/* Belief from all evidence of the graph, in a scope (NULL: everywhere). */
bool skill_believe_now(struct memory *memory, const char *skill_id, const struct skill_scope *scope,
                       struct arena *arena, struct skill_belief *out, struct err *err);
/* Evidence of `sign` is in: moves the state where it says so. */
bool skill_settle(struct run *run, const struct graph_skill *skill, int sign, bool is_elsewhere,
                  struct skill_trial *out, struct err *err);

/* Rows of the memory and shipped seeds, by name. */
bool skill_list_all(struct memory *memory, const struct target *target, struct arena *arena,
                    const struct graph_skill **out, size_t *out_count, struct err *err);

/* Facts of the run's task and machine. */
void skill_facts_of_run(const struct run *run, struct skill_facts *out);
void skill_facts_of_target(const struct target *target, struct arena *arena,
                           struct skill_facts *out);
struct skill_scope skill_scope_of(const struct skill_facts *facts, const struct run *run);

/* A source built as the baseline is. */
struct candidate skill_plain_build(const struct run *run, const char *source);
/* The two sides of a trial: candidates that differ in the skill alone. False with the refusal in
 * words (`*why`) is an answer, not an error: then both are empty. */
bool skill_sides(struct run *run, const struct graph_skill *skill, const char *after,
                 struct candidate sides[2], const char *names[2], const char **why,
                 struct err *err);

#endif

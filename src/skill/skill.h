/*
 * Skills: what makes kernels faster, where, and how sure that is.
 *
 * A skill has an intent, a predicate that says where it applies, another for what it needs of the
 * machine (predicate.h: both are checked by program), a change in the words of a recipe (moves.h)
 * or, where there is none yet, an example before and after; its effect is a posterior by scope,
 * made from its evidence whenever it is asked. Its history is events (journal/event.h), its rows
 * are in the graph (graph/skills.h).
 *
 *   candidate     known, not shown elsewhere
 *   verified      a fresh trial on another task or shape was faster with it than without
 *   contradicted  what was measured of it since does not support it
 *   retired       slower by all that was measured; kept, and never used
 *
 * Used by engine (trials, lineage, offers for the prompt) and command. Pure but for the graph's
 * queries. Memory: results are the arena's. Threads: as the graph's.
 */
#ifndef KOPE_SKILL_SKILL_H
#define KOPE_SKILL_SKILL_H

#include "base/hash.h"
#include "graph/skills.h"
#include "skill/facts.h"
#include "stats/stats.h"

enum skill_state {
    SKILL_CANDIDATE,
    SKILL_VERIFIED,
    SKILL_CONTRADICTED,
    SKILL_RETIRED,
    SKILL_STATE_COUNT
};
const char *skill_state_name(enum skill_state state);
/* Unknown names (of a later version) are candidates. */
enum skill_state skill_state_from_name(const char *name);

/* A candidate of that origin of which nothing else is known yet: every text is "". */
struct graph_skill skill_blank(const char *origin);

enum { SKILL_NAME_BYTES = 64, SKILL_INTENT_BYTES = 1024 };

/* Lower-case letters, digits and single hyphens between them, at most 64: as the Agent Skills
 * format has it. The reason where not; NULL where it is. */
const char *skill_name_problem(const char *name);

/* Of name, predicates and change, without one of its example: two memories that learn the same have
 * the same skill. */
struct hash_id skill_make_id(const struct graph_skill *skill);

/* Name, intent, predicates and change are well formed: ERR_BAD_INPUT says what is not. */
bool skill_check(const struct graph_skill *skill, struct err *err);

/* By that name, or by the beginning of the id. ERR_NOT_FOUND with the nearest name. */
bool skill_find(const struct graph_skill *skills, size_t count, const char *name,
                const struct graph_skill **out, struct err *err);

/* Does it apply here; `*why` says what does not hold where not. */
bool skill_applies(const struct graph_skill *skill, const struct skill_facts *facts,
                   struct arena *arena, bool *applies, const char **why, struct err *err);

/* Where an effect is asked for. Empty fields: anywhere. */
struct skill_scope {
    const char *family, *target_id, *regime;
};

struct skill_belief {
    struct stats_posterior effect; /* log-ratio of having it */
    int64_t timed, failed;         /* evidence behind it, of all scopes */
    int64_t tasks;                 /* different ones among the timed */
    double sum;                    /* of the timed log-ratios */
    double low, high;              /* 95 % of the effect */
};
/* From the widest scope to the narrowest: everywhere, the family, the family on the target, the
 * same in the regime; each posterior is the prior of the next. */
struct skill_belief skill_believe(const struct graph_skill_evidence *evidence, size_t count,
                                  const struct skill_scope *scope);

/* What a skill counts as after a measurement. `sign` is that of verdict_difference; `is_elsewhere`:
 * on another task or shape than it was learned on; `everywhere` includes the measurement. `*reason`
 * is NULL where the state stays. */
enum skill_state skill_next_state(enum skill_state now, int sign, bool is_elsewhere,
                                  const struct skill_belief *everywhere, struct arena *arena,
                                  const char **reason);

/* A skill that applies here, for a prompt or as what to try next. */
struct skill_pick {
    const struct graph_skill *skill;
    struct skill_belief belief;
    double match;     /* BM25 against the task's words, as a share of the best */
    double score;     /* expected log-ratio: a draw from the belief, by the match */
    const char *text; /* a line for a model; the same whatever the seed */
};

struct skill_request {
    const struct skill_facts *facts;
    struct skill_scope scope;
    const char *words;  /* what is asked for, besides the task's own words; "" */
    uint64_t seed;      /* of the draws (Thompson sampling) */
    bool verified_only; /* candidates are left out; contradicted and retired ones always are */
    size_t limit;       /* 0: all */
};
/* Best first. A skill whose predicates cannot be read is left out and counted in `*broken`. */
bool skill_select(struct graph *graph, const struct skill_request *request, struct arena *arena,
                  const struct skill_pick **out, size_t *out_count, size_t *broken,
                  struct err *err);

/* The evidence in a few words: "5 trials on 3 tasks, 1.42x [1.30, 1.55]". */
char *skill_evidence_text(const struct skill_belief *belief, struct arena *arena);

#endif

/*
 * The rules of a memory at work on a target: asked before a build, put to the test, made.
 *
 * A rule is asked about a candidate where it was not contradicted, and where its reproducer still
 * fails of its cause with the candidate's compiler on this target. That is known from the memory,
 * else found out by a build the first time that the rule would say something: so a new compiler or
 * machine costs a build for a rule, not a belief. One in RULEBOOK_TRIAL_SHARE candidates that a
 * rule would refuse is let through, by a lot that depends on the decision alone: one that is then
 * built contradicts the rule, and retires it.
 *
 * Used by a run (step.c, finish.c, prompt.c) and by 'kope rule'. Borrows memory, target and task;
 * its own memory is the arena's. Threads: one. A replay (memory.replay) only reads it.
 */
#ifndef KOPE_ENGINE_RULEBOOK_H
#define KOPE_ENGINE_RULEBOOK_H

#include "engine/engine.h"
#include "graph/rules.h"
#include "rule/cause.h"
#include "task/candidate.h"

enum { RULEBOOK_TRIAL_SHARE = 20, RULEBOOK_MOST_TESTS = 200, RULEBOOK_MOST_RULES = 1000 };

/* What is known of a rule and one compiler of the target. */
enum rule_standing { STANDING_UNKNOWN, STANDING_HOLDS, STANDING_STALE };

struct rulebook_rule {
    struct graph_rule rule;
    bool is_readable; /* its predicate is one of this version */
    bool is_retired;  /* contradicted */
    bool held_before; /* with some compiler on some target */
    bool is_shown;    /* to models: held when the book was opened */
    enum rule_standing standing[TARGET_MAX_COMPILERS];
    bool cannot_check[TARGET_MAX_COMPILERS]; /* tried in this process: not asked again */
};

struct rulebook {
    struct memory *memory;
    struct target *target;
    const struct task *task; /* of the run; NULL */
    struct arena *arena;
    struct rulebook_rule *rules;
    size_t count, capacity;
    size_t left_out;              /* rules of the memory beyond RULEBOOK_MOST_RULES: not asked */
    const struct task *probes[2]; /* small tasks in float32 and float64 that rules are tried on */
};

bool rulebook_open(struct memory *memory, struct target *target, const struct task *task,
                   struct arena *arena, struct rulebook *out, struct err *err);
void rulebook_close(struct rulebook *book);

/* ---- before a build */

struct rule_hit {
    struct rulebook_rule *rule; /* NULL: none says anything */
    bool is_trial;              /* let through */
    size_t compiler;            /* index in the target's features */
};
bool rulebook_ask(struct rulebook *book, const struct candidate *candidate, const char *decision_id,
                  struct rule_hit *out, struct err *err);
/* The outcome of a candidate that was refused. */
void rulebook_refuse(const struct rulebook *book, const struct rule_hit *hit, struct arena *arena,
                     struct verdict *out);
/* After a trial: what came of the candidate is journalled as a test of the rule. */
bool rulebook_settle(struct rulebook *book, const struct rule_hit *hit, const char *decision_id,
                     const struct verdict *verdict, struct err *err);

/* ---- by a person, or at the end of a run */

struct rule_checked {
    const struct graph_rule *rule;
    const char *compiler, *version;
    enum rule_standing standing; /* UNKNOWN: could not be tried */
    const char *reason;          /* where it does not hold */
};
/* Builds reproducers again with every compiler of the target: of the rule at `which`, or of all
 * that are not retired (`which` = SIZE_MAX). */
bool rulebook_verify(struct rulebook *book, size_t which, struct arena *arena,
                     struct rule_checked **out, size_t *out_count, struct err *err);

struct rulebook_limits {
    int64_t most_ns;    /* 0: none; a rule that is begun is finished */
    size_t most_tests;  /* builds to shrink one reproducer; 0: RULEBOOK_MOST_TESTS */
    size_t most_failed; /* failures to look at, the newest; 0: 2000 */
};
struct rulebook_lesson {
    size_t failures, host_faults, flaky; /* that were looked at; that count nowhere */
    size_t causes;                       /* clusters */
    size_t known;                        /* of those often enough: have their rule already */
    size_t learned, without;             /* new rules; causes that no predicate foretells */
    size_t retired;                      /* rules that fire on what was built */
    size_t builds;                       /* paid for it */
};
/* Makes the rules that the failures in memory suffice for. */
bool rulebook_learn(struct rulebook *book, const struct rulebook_limits *limits,
                    struct rulebook_lesson *out, struct err *err);

/* The smallest source that fails of the rule's cause. */
bool rulebook_reproducer(const struct rulebook *book, const struct rulebook_rule *rule,
                         struct arena *arena, const char **out, struct err *err);
/* A line for a prompt, the same in every run; NULL where the rule is not to be shown. */
const char *rulebook_advice(const struct rulebook *book, const struct rulebook_rule *rule,
                            struct arena *arena);

#endif

/*
 * Why a candidate failed, as a key that two failures share exactly where one thing is to be done
 * about both.
 *
 * A compiler says a lot about one mistake: the root cause is told from its echoes (an undeclared
 * name that is used twenty times, the cascade after a missing brace, the type error that follows
 * an implicit declaration). The key leaves out what differs from source to source (names that the
 * source chose, numbers, paths, lines) and which compiler said it, and keeps what matters: which
 * intrinsic, which flag, which instruction set, which function that kernels may not call. What the
 * host did (a compiler that was killed, a full disk, noise, a time limit) is no lesson, and says
 * so.
 *
 * Used by the clusters of failures (rule/cluster.h) and by whoever shrinks a reproducer
 * (rule/shrink.h). Pure; results are the arena's; any thread. Diagnostics are hostile input: only
 * their first MOST_DIAGNOSTICS messages are read.
 */
#ifndef KOPE_RULE_CAUSE_H
#define KOPE_RULE_CAUSE_H

#include "base/arena.h"
#include "task/verdict.h"

#include <stdbool.h>
#include <stdint.h>

struct failure {
    enum verdict_kind kind;
    const char *mechanism;   /* "compiler", "M12-object", ... as in a verdict */
    const char *evidence;    /* NULL is "" */
    const char *diagnostics; /* of the compiler or linker; NULL is "" */
    const char *entry;       /* of the task; NULL where unknown */
};

struct cause {
    bool is_lesson;
    const char *why_not;  /* where it is none: "the compiler was killed"; else "" */
    const char *key;      /* "undeclared-function _mm256_tanh_ps"; "" where it is no lesson */
    const char *words;    /* the key for people and prompts, a sentence without full stop */
    const char *subject;  /* what matters of the key: "_mm256_tanh_ps"; "" */
    bool shows_at_build;  /* a build alone shows it, without a run */
    int64_t line, column; /* in the candidate, from 1; 0 where not told */
};

struct cause cause_of(const struct failure *failure, struct arena *arena);

/* A name that means the same in every source: of a standard header, an intrinsic, reserved. */
bool cause_name_is_known(const char *name);

#endif

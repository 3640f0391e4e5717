/*
 * Predicates: where a skill applies, as a text that a program checks.
 *
 *   sums > 0 and reassociate and not scans
 *   call(exp) and (dtype == float32 or dtype == float64) and regime != tiny
 *
 * `and`, `or`, `not`, parentheses; a number alone asks whether it is not 0; comparisons of a number
 * with a number, of a word with a word (== and != only); NAME(word) asks whether a set holds it.
 * Names are those of facts.h; an unknown one is an error. The empty text holds always. Texts come
 * from journals and files: capped in length and depth. Pure.
 */
#ifndef KOPE_SKILL_PREDICATE_H
#define KOPE_SKILL_PREDICATE_H

#include "base/arena.h"
#include "base/err.h"
#include "skill/facts.h"

#include <stdbool.h>

enum { PREDICATE_MAX_BYTES = 1024, PREDICATE_MAX_DEPTH = 24 };

/* ERR_BAD_INPUT with the column, counted from 1. */
bool predicate_check(const char *text, struct err *err);

/* `*why`, where it does not hold: the first part that does not, with the value found ("sums > 0:
 * sums is 0"); else "". */
bool predicate_holds(const char *text, const struct skill_facts *facts, struct arena *arena,
                     bool *holds, const char **why, struct err *err);

#endif

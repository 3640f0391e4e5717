/*
 * Predicates of rules: cheap questions to a candidate, asked before a build is paid for.
 *
 * A predicate is text, conditions joined by "; ", and holds where each of them does:
 *
 *   open-brace, extra-brace, open-parenthesis, open-comment, open-literal, open-conditional,
 *   stray-character              what the brackets, quotes and bytes are like
 *   undeclared-name, undeclared-function, unknown-type, missing-semicolon, redefinition,
 *   write-to-const, argument-count, undeclared-label
 *                                what a look at the tokens is sure of; a doubt is a no
 *   language CUDA                a line is of that language
 *   uses NAME                    a token; a star stands for any letters: uses _mm512_*
 *   calls NAME                   the name before a parenthesis
 *   calls NAME with 2            a call of it with so many arguments
 *   includes HEADER, lacks HEADER    an #include is there, or not
 *   flag FLAG                    is among the flags
 *   isa-off FEATURE              the flags do not enable it (avx512, avx, fma)
 *   sequence TOKENS              these tokens in a row: $name, $number, $string stand for any of
 *                                their kind, $end for a semicolon, a star for any letters
 *                                of a name
 *
 * Used when a rule is made (rule_predicate_propose, tried on what failed and what passed) and when
 * it is asked. Text of a predicate comes from memories of others: rule_predicate_valid before the
 * first use. Pure; any thread.
 */
#ifndef KOPE_RULE_PREDICATE_H
#define KOPE_RULE_PREDICATE_H

#include "base/err.h"
#include "rule/cause.h"
#include "rule/source.h"

enum { PREDICATE_MAX_BYTES = 1024 };

/* ERR_BAD_INPUT names the condition that is not known. */
bool rule_predicate_valid(const char *predicate, struct err *err);

/* False too where a condition is not known. */
bool rule_predicate_holds(const char *predicate, const struct rule_source *source);

/* One failure of a cause, for the making of a predicate. */
struct rule_sample {
    const struct rule_source *source;
    int64_t line, column; /* of the cause; 0 where not told */
};

/* The n-th predicate that could foretell this cause, best first, or NULL after the last. None has
 * been tried yet. */
const char *rule_predicate_propose(const struct cause *cause, const struct rule_sample *samples,
                                   size_t count, size_t n, struct arena *arena);

#endif

/* Kernels that fail of a known cause, each another one. */
#ifndef KOPE_BENCH_RULES_SOURCE_H
#define KOPE_BENCH_RULES_SOURCE_H

#include "base/arena.h"
#include "base/rng.h"

#include <stddef.h>

enum { RULE_CAUSES = 20 };

/* The key of a cause, and the flags that it needs ("": the default). */
const char *cause_key(size_t cause);
const char *cause_flags(size_t cause);

/* A kernel for the task 'sum' that fails of a cause; RULE_CAUSES: of a 21st one, that of the flaky
 * outcomes; above: of none. */
enum { CAUSE_FLAKY = RULE_CAUSES, CAUSE_NONE };
char *failing_source(size_t cause, struct rng *rng, struct arena *arena);

#endif

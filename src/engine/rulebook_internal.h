/* Inside engine/: what rulebook.c, rulebook_check.c and rulebook_learn.c share. */
#ifndef KOPE_ENGINE_RULEBOOK_INTERNAL_H
#define KOPE_ENGINE_RULEBOOK_INTERNAL_H

#include "engine/rulebook.h"
#include "rule/predicate.h"

/* ---- rulebook.c */
bool rulebook_add(struct rulebook *book, const struct graph_rule *rule, struct err *err);
/* A candidate as rules see it; `*compiler` is the count of compilers where the target lacks it. */
const struct rule_source *rulebook_read(const struct rulebook *book,
                                        const struct candidate *candidate, size_t *compiler,
                                        struct arena *arena);
bool rulebook_write_check(struct rulebook *book, const struct rulebook_rule *rule, size_t compiler,
                          const char *result, const char *decision_id, const char *reason,
                          struct err *err);

/* ---- rulebook_check.c */

/* Finds out whether the reproducer fails with this compiler, where that is not known. */
bool rulebook_check(struct rulebook *book, struct rulebook_rule *rule, size_t compiler,
                    struct err *err);
/* Builds a source for a task and tells its cause; a cause that is no lesson where it was built. */
bool rulebook_build(struct rulebook *book, const struct task *task,
                    const struct candidate *candidate, bool *is_built, struct arena *arena,
                    struct cause *out, struct err *err);

#endif

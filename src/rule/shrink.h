/*
 * The smallest source that still fails for the same reason: delta debugging (Zeller and
 * Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002; here only the
 * complements, which is what shrinks), first over lines, then over tokens. Pure but for the test
 * that is given.
 */
#ifndef KOPE_RULE_SHRINK_H
#define KOPE_RULE_SHRINK_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Does this source still fail for that reason? False with an err ends the shrinking. */
struct shrink_test {
    bool (*fails)(void *context, const char *source, bool *fails, struct err *err);
    void *context;
};

struct shrunk {
    const char *source;
    size_t tests;    /* that were made */
    bool is_minimal; /* no single token can be left out; false where the tests ran out */
};

/* `source` is to fail itself: ERR_NOT_FOUND where it does not. At most `most_tests` are made. */
bool rule_shrink(const char *source, size_t most_tests, const struct shrink_test *test,
                 struct arena *arena, struct shrunk *out, struct err *err);

#endif

/*
 * A candidate: source in the target's language plus the choice of compiler and flags. A value; the
 * memory is the arena's that made it.
 */
#ifndef KOPE_TASK_CANDIDATE_H
#define KOPE_TASK_CANDIDATE_H

#include "base/arena.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

enum { CANDIDATE_MAX_FLAGS = 48, CANDIDATE_MAX_SOURCE_BYTES = 512 * 1024 };

struct candidate {
    const char *source;   /* one translation unit that defines the entry point over `real` or the
                             dtype itself */
    const char *compiler; /* name as the target lists it ("gcc-12", "clang-19"); NULL: the target's
                             default */
    const char *flags[CANDIDATE_MAX_FLAGS]; /* each from the target's allowed set; none: the
                                               target's default flags */
    size_t flag_count;
    const char
        *recipe; /* moves that made it, as text (moves/recipe.h); NULL for free-form source */
};

/* Identity of what would be built: source, compiler and flags. */
struct hash_id candidate_id(const struct candidate *candidate);

/* A copy whose memory is all in `arena`. */
struct candidate candidate_copy(const struct candidate *candidate, struct arena *arena);

/* Flags as one line, separated by spaces; and back (at most CANDIDATE_MAX_FLAGS, the rest refused:
 * returns false). */
char *candidate_flags_text(const struct candidate *candidate, struct arena *arena);
bool candidate_parse_flags(const char *text, struct arena *arena, struct candidate *out);

#endif

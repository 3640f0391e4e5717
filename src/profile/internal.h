/* Inside profile/: what its readers share. */
#ifndef KOPE_PROFILE_INTERNAL_H
#define KOPE_PROFILE_INTERNAL_H

#include "profile/read.h"

/* source.c: what a candidate's text is called when it is compiled; is that the file at this path?
 */
#define CANDIDATE_FILE "candidate.c"
bool source_is_candidate(const char *path, size_t length);
/* A line that a tool speaks of, if a text of so many lines has it (0: not known); else 0. */
enum { SOURCE_MOST_LINE = 10000000 };
int source_line(int64_t line, int line_count);

/* loop_findings.c: "the loop at line 12", "the loop in lines 12 to 14". */
const char *loop_name(const struct loop *loop, struct arena *arena);

/* chain.c: the name of the floating-point operations that go on from one iteration to the next, the
 * most frequent, and how many such there are in the body; "" and 0 where none is seen. */
const char *loop_chain(const struct loop *loop, size_t *links, struct arena *arena);

/* record.c: loops that were not vectorized, as a reader of a compiler's record meets them. */
struct missed {
    const struct record *record;
    struct arena *arena;
    struct finding *out;
    size_t count, capacity;
    size_t seen;                     /* reasons; so many and no more are looked at */
    size_t ranks[PROFILE_MAX_LOOPS]; /* of each: the loop that it is about, heaviest first */
};
/* The loop at `line` was not vectorized for this reason, in the compiler's words. A loop has one
 * finding: what says more replaces what says less. */
void missed_add(struct missed *m, int line, const char *reason);
/* Those of heavier loops first. */
void missed_sort(struct missed *m);

#endif

/* Inside rule/: messages of compilers, and the table of what they mean. */
#ifndef KOPE_RULE_INTERNAL_H
#define KOPE_RULE_INTERNAL_H

#include "rule/cause.h"

#include <stddef.h>

enum { MOST_DIAGNOSTICS = 200, MOST_CAPTURES = 4 };

/* ---- diagnostic.c */

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

struct diagnostic {
    enum severity severity;
    const char *file; /* "candidate.c"; "cc1", "gcc", "ld" for a tool without a place; "" */
    int64_t line, column;
    int64_t caller_line, caller_column; /* of the candidate, where it was inlined from there */
    const char *message;                /* quotes are ' and ', a trailing [-Wname] is off */
    const char *excerpt;                /* the source line that was shown; "" */
};

struct diagnostics {
    struct diagnostic *items;
    size_t count;
};

struct diagnostics diagnostics_parse(const char *text, struct arena *arena);

/* ---- host.c: what is the host's doing; NULL where the failure is the candidate's own. */
const char *host_fault(const struct failure *failure, const struct diagnostics *diagnostics);

/* ---- wording.c */

/* One wording of one cause. In `pattern` each '*' stands for any text, as short as possible. In
 * `subject`, n1 is the first such text as a name, t1 as a type, i1 as the instruction set that a
 * feature or an intrinsic belongs to, q1 as it is; other characters stand for themselves. */
struct wording {
    const char *pattern, *cause, *subject;
};

struct meaning {
    const char *cause;   /* "missing-semicolon"; NULL where no wording matches */
    const char *subject; /* "" */
};
/* `entry` may be NULL. */
struct meaning wording_of(const char *message, const char *entry, struct arena *arena);
/* Words for a cause: "a ';' is missing"; NULL for one that the table lacks. */
const char *wording_words(const char *cause);

/* Matches the whole of `text`; captures what the '*' stand for, at most MOST_CAPTURES. */
bool wording_match(const char *pattern, const char *text, struct arena *arena,
                   const char *captures[MOST_CAPTURES]);

/* Any message with names, numbers and paths taken out. */
const char *wording_normalised(const char *message, struct arena *arena);

/* ---- name.c */

/* Language of a source line that is not C ("CUDA", "C++", "OpenCL"), NULL where it may be C. */
const char *name_foreign_language(const char *line);
/* "avx512", "avx", "fma" of a feature or an intrinsic; the name itself otherwise. */
const char *name_isa(const char *name, struct arena *arena);
/* A type as it stands in a key: without qualifiers, a type that the source made is T. */
const char *name_type(const char *type, struct arena *arena);

#endif

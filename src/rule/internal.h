/* Inside rule/: messages of compilers, and the table of what they mean. */
#ifndef KOPE_RULE_INTERNAL_H
#define KOPE_RULE_INTERNAL_H

#include "rule/cause.h"
#include "rule/source.h"

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
/* The header that declares a known name: "" where it stands before every source, "?" where it is
 * of no header of C; NULL for a name that is not known. */
const char *name_header(const char *name);
bool name_is_among(const char *name, const char *words); /* separated by blanks */
bool name_is_basic_type(const char *word);

/* ---- token.c: questions to tokens; past the end nothing holds. */

bool rule_token_is(const struct rule_source *s, size_t at, const char *text);
bool rule_token_is_name(const struct rule_source *s, size_t at); /* no keyword */
bool rule_token_is_keyword(const struct rule_source *s, size_t at);
bool rule_token_is_type(const struct rule_source *s, size_t at); /* "float", "int64_t", "__m256" */
bool rule_token_in(const struct rule_source *s, size_t at, const char *const *texts, size_t count);
/* Arguments of the call whose parenthesis is at `open`; -1 where it does not close. */
int64_t rule_token_argument_count(const struct rule_source *s, size_t open);
/* `text` against a name in which stars stand for any letters. */
bool rule_token_glob(const char *glob, const char *text);

/* Names of a source in the order in which they first stand there. */
struct first_uses {
    size_t *tokens;
    size_t count;
};
struct first_uses rule_token_first_uses(const struct rule_source *s, struct arena *arena);

/* ---- look.c: conditions that need more than a token. */
struct look {
    const char *condition;
    bool (*holds)(const struct rule_source *s);
};
extern const struct look looks[];
extern const size_t look_count;
bool look_isa_is_off(const struct rule_source *s, const char *feature);

#endif

/*
 * A candidate as rules look at it: the tokens of its source, its flags, the machine. Reads any
 * bytes, also what is no C: a brace that is missing is what some rules are about. No macro is
 * expanded. Pure; the arena's; any thread.
 */
#ifndef KOPE_RULE_SOURCE_H
#define KOPE_RULE_SOURCE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rule_token_kind {
    RULE_TOKEN_NAME,
    RULE_TOKEN_NUMBER,
    RULE_TOKEN_STRING,    /* a character literal too */
    RULE_TOKEN_MARK,      /* punctuation */
    RULE_TOKEN_DIRECTIVE, /* to the end of its line, blanks made one: "#include <math.h>" */
    RULE_TOKEN_STRAY      /* a byte that is not C */
};

struct rule_token {
    enum rule_token_kind kind;
    const char *text;
    int64_t line, column; /* from 1 */
    int64_t depth;        /* braces that are open before it */
    size_t match;         /* of a bracket: the index of the other one; else RULE_NO_TOKEN */
};
#define RULE_NO_TOKEN ((size_t)-1)

/* What the brackets and quotes are like. */
struct rule_shape {
    bool open_brace, extra_brace, open_parenthesis, open_comment, open_literal, open_conditional;
    bool has_stray; /* a byte that is not C */
};

struct rule_source {
    const char *text, *compiler_family, *isa;
    const char *const *flags;
    size_t flag_count;
    struct rule_token *tokens;
    size_t count;
    struct rule_shape shape;
};

/* Where `flags` and the others are NULL they are empty. Strings are not copied. */
struct rule_candidate {
    const char *source;
    const char *compiler_family; /* "gcc", "clang" */
    const char *isa;             /* of the target: "avx2,fma" */
    const char *const *flags;
    size_t flag_count;
};
const struct rule_source *rule_source_read(const struct rule_candidate *candidate,
                                           struct arena *arena);

/* All tokens but those that are left out (NULL: none) as text that reads back as the same tokens.
 */
char *rule_source_text(const struct rule_source *source, const bool *left_out, struct arena *arena);

#endif

/*
 * Tokens of a C source, enough to find loops and parameters in a reference and to edit it in place:
 * comments and the insides of strings are never mistaken for code, a preprocessor directive is one
 * token. No macro is expanded; what a macro hides is not found, and an edit that would need it is
 * refused. Inside moves only.
 */
#ifndef KOPE_MOVES_LEX_H
#define KOPE_MOVES_LEX_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum token_kind { TOKEN_IDENTIFIER, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCTUATOR, TOKEN_DIRECTIVE };

struct token {
    enum token_kind kind;
    size_t begin, end; /* bytes in the text */
    size_t match;      /* of ( [ {: the token that closes it, and back; else TOKEN_NONE */
};

#define TOKEN_NONE ((size_t)-1)

struct tokens {
    const char *text;
    struct token *items;
    size_t count;
};

/* False where brackets, comments or strings do not close; `why` then says so. */
bool lex(const char *text, struct arena *arena, struct tokens *out, const char **why);

/* Token `at` is exactly `text`; false past the end. */
bool token_is(const struct tokens *tokens, size_t at, const char *text);
bool token_is_identifier(const struct tokens *tokens, size_t at);
bool token_same(const struct tokens *tokens, size_t a, size_t b);
char *token_text(const struct tokens *tokens, size_t at, struct arena *arena);

/* The text from the first to before the last token, comments included; "" where there is none. */
char *token_range_text(const struct tokens *tokens, size_t begin, size_t end, struct arena *arena);

/* Both ranges have the same tokens. */
bool token_range_same(const struct tokens *tokens, size_t a_begin, size_t a_end, size_t b_begin,
                      size_t b_end);

/* How often an identifier with the text of token `name` is used in [begin, end), members (.name)
 * not counted. */
size_t token_count_uses(const struct tokens *tokens, size_t name, size_t begin, size_t end);

#endif

#include "moves/lex.h"

#include <ctype.h>
#include <string.h>

/* Longest first, so that the first that fits is the token. */
static const char *const punctuators[] = {
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
    "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Past the comment at `at`; `at` itself where there is none; NULL where it does not close. */
static const char *skip_comment(const char *at)
{
    if (at[0] == '/' && at[1] == '*') {
        const char *close = strstr(at + 2, "*/");
        return close ? close + 2 : NULL;
    }
    if (at[0] == '/' && at[1] == '/')
        while (*at && *at != '\n')
            at += at[0] == '\\' && at[1] ? 2 : 1;
    return at;
}

/* Past white space and comments; NULL where a comment does not close. `line_start` is set when a
 * newline was passed. */
static const char *skip_space(const char *at, bool *line_start)
{
    for (;;) {
        while (isspace((unsigned char)*at))
            *line_start |= *at++ == '\n';
        if (at[0] == '\\' && at[1] == '\n') {
            at += 2;
            continue;
        }
        const char *after = skip_comment(at);
        if (!after || after == at)
            return after;
        at = after;
    }
}

/* Past a literal in the given quotes; NULL where it does not close on its line. */
static const char *skip_quoted(const char *at, char quote)
{
    for (at++; *at && *at != '\n'; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == quote)
            return at + 1;
    }
    return NULL;
}

/* Past a directive with its continuation lines; a block comment in it may span lines. */
static const char *skip_directive(const char *at)
{
    while (*at && *at != '\n') {
        if (at[0] == '\\' && at[1]) {
            at += 2;
        } else if (at[0] == '/' && at[1] == '*') {
            at = strstr(at + 2, "*/");
            if (!at)
                return NULL;
            at += 2;
        } else {
            at++;
        }
    }
    return at;
}

static const char *skip_number(const char *at)
{
    while (is_word(*at) || *at == '.' ||
           ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]) != NULL))
        at++;
    return at;
}

static const char *skip_punctuator(const char *at)
{
    for (size_t i = 0; i < sizeof punctuators / sizeof *punctuators; i++)
        if (strncmp(at, punctuators[i], strlen(punctuators[i])) == 0)
            return at + strlen(punctuators[i]);
    return at + 1;
}

static const char *skip_token(const char *at, bool line_start, enum token_kind *kind)
{
    if (*at == '#' && line_start) {
        *kind = TOKEN_DIRECTIVE;
        return skip_directive(at);
    }
    if (*at == '"' || *at == '\'') {
        *kind = TOKEN_STRING;
        return skip_quoted(at, *at);
    }
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        *kind = TOKEN_NUMBER;
        return skip_number(at);
    }
    if (is_word(*at)) {
        *kind = TOKEN_IDENTIFIER;
        while (is_word(*at))
            at++;
        return at;
    }
    *kind = TOKEN_PUNCTUATOR;
    return skip_punctuator(at);
}

/* Fills `match`; the stack of open brackets is threaded through the `match` fields of the open
 * ones. */
static bool match_brackets(struct tokens *tokens, const char **why)
{
    size_t open = TOKEN_NONE;
    for (size_t i = 0; i < tokens->count; i++) {
        struct token *t = &tokens->items[i];
        const char c = tokens->text[t->begin];
        if (t->kind != TOKEN_PUNCTUATOR || t->end - t->begin != 1 || !strchr("()[]{}", c))
            continue;
        if (strchr("([{", c)) {
            t->match = open;
            open = i;
            continue;
        }
        const char want = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (open == TOKEN_NONE || tokens->text[tokens->items[open].begin] != want) {
            *why = "the brackets of the reference do not match";
            return false;
        }
        const size_t outer = tokens->items[open].match;
        tokens->items[open].match = i;
        t->match = open;
        open = outer;
    }
    if (open != TOKEN_NONE)
        *why = "a bracket of the reference does not close";
    return open == TOKEN_NONE;
}

bool lex(const char *text, struct arena *arena, struct tokens *out, const char **why)
{
    struct tokens tokens = {.text = text};
    tokens.items = arena_array(arena, strlen(text) + 1, sizeof *tokens.items);
    bool line_start = true;
    const char *at = text;
    for (;;) {
        at = skip_space(at, &line_start);
        if (!at) {
            *why = "a comment of the reference does not close";
            return false;
        }
        if (!*at)
            break;
        struct token *t = &tokens.items[tokens.count];
        const char *end = skip_token(at, line_start, &t->kind);
        if (!end) {
            *why = "a string or a directive of the reference does not close";
            return false;
        }
        t->begin = (size_t)(at - text);
        t->end = (size_t)(end - text);
        t->match = TOKEN_NONE;
        tokens.count++;
        line_start = false;
        at = end;
    }
    if (!match_brackets(&tokens, why))
        return false;
    *out = tokens;
    return true;
}

bool token_is(const struct tokens *tokens, size_t at, const char *text)
{
    if (at >= tokens->count)
        return false;
    const struct token *t = &tokens->items[at];
    const size_t length = t->end - t->begin;
    return t->kind != TOKEN_STRING && strlen(text) == length &&
           memcmp(tokens->text + t->begin, text, length) == 0;
}

bool token_is_identifier(const struct tokens *tokens, size_t at)
{
    return at < tokens->count && tokens->items[at].kind == TOKEN_IDENTIFIER;
}

bool token_same(const struct tokens *tokens, size_t a, size_t b)
{
    const struct token *x = &tokens->items[a], *y = &tokens->items[b];
    return x->kind == y->kind && x->end - x->begin == y->end - y->begin &&
           memcmp(tokens->text + x->begin, tokens->text + y->begin, x->end - x->begin) == 0;
}

char *token_text(const struct tokens *tokens, size_t at, struct arena *arena)
{
    return token_range_text(tokens, at, at + 1, arena);
}

char *token_range_text(const struct tokens *tokens, size_t begin, size_t end, struct arena *arena)
{
    if (begin >= end)
        return arena_strdup(arena, "");
    const size_t first = tokens->items[begin].begin;
    return arena_strndup(arena, tokens->text + first, tokens->items[end - 1].end - first);
}

bool token_range_same(const struct tokens *tokens, size_t a_begin, size_t a_end, size_t b_begin,
                      size_t b_end)
{
    if (a_end - a_begin != b_end - b_begin)
        return false;
    for (size_t i = 0; i < a_end - a_begin; i++)
        if (!token_same(tokens, a_begin + i, b_begin + i))
            return false;
    return true;
}

size_t token_count_uses(const struct tokens *tokens, size_t name, size_t begin, size_t end)
{
    size_t uses = 0;
    for (size_t i = begin; i < end; i++) {
        const bool is_member =
            i > 0 && (token_is(tokens, i - 1, ".") || token_is(tokens, i - 1, "->"));
        if (!is_member && token_is_identifier(tokens, i) && token_same(tokens, i, name))
            uses++;
    }
    return uses;
}

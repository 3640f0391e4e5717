#include "moves/toplevel.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NAMES_OF_ITEM = 256 };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* --- directives ------------------------------------------------------------------------------- */

/* Past `#` and blanks. */
static size_t after_hash(const struct tokens *tokens, const struct token *directive)
{
    size_t at = directive->begin + 1;
    while (at < directive->end && (tokens->text[at] == ' ' || tokens->text[at] == '\t'))
        at++;
    return at;
}

static size_t word_end(const char *text, size_t at, size_t end)
{
    while (at < end && is_word(text[at]))
        at++;
    return at;
}

const char *toplevel_directive(const struct toplevel *top, const struct toplevel_item *item,
                               struct arena *arena)
{
    if (!item->is_directive)
        return "";
    const struct token *t = &top->tokens.items[item->begin];
    const size_t begin = after_hash(&top->tokens, t);
    return arena_strndup(arena, top->tokens.text + begin,
                         word_end(top->tokens.text, begin, t->end) - begin);
}

/* Past a string or a comment at `at`; `at` where there is none. */
static size_t skip_inert(const char *text, size_t at, size_t end)
{
    const char c = text[at];
    if (c == '"' || c == '\'') {
        for (at++; at < end && text[at] != c; at++)
            at += text[at] == '\\';
        return at < end ? at + 1 : end;
    }
    if (c != '/' || at + 1 >= end)
        return at;
    if (text[at + 1] == '/')
        return end;
    if (text[at + 1] != '*')
        return at;
    const char *close = strstr(text + at + 2, "*/");
    return close && (size_t)(close - text) + 2 <= end ? (size_t)(close - text) + 2 : end;
}

static bool visit_directive(const struct tokens *tokens, const struct token *t,
                            bool (*visit)(void *context, size_t begin, size_t end), void *context)
{
    const char *text = tokens->text;
    size_t at = after_hash(tokens, t);
    const size_t keyword = at;
    at = word_end(text, at, t->end);
    if (at - keyword == strlen("include") && strncmp(text + keyword, "include", at - keyword) == 0)
        return true;
    while (at < t->end) {
        const size_t inert = skip_inert(text, at, t->end);
        const size_t end = word_end(text, at, t->end);
        if (inert != at) {
            at = inert;
        } else if (end == at) {
            at++;
        } else if (!isdigit((unsigned char)text[at]) && !visit(context, at, end)) {
            return false;
        } else {
            at = end;
        }
    }
    return true;
}

bool toplevel_identifiers(const struct toplevel *top, const struct toplevel_item *item,
                          bool (*visit)(void *context, size_t begin, size_t end), void *context)
{
    for (size_t i = item->begin; i < item->end; i++) {
        const struct token *t = &top->tokens.items[i];
        if (t->kind == TOKEN_DIRECTIVE && !visit_directive(&top->tokens, t, visit, context))
            return false;
        if (t->kind == TOKEN_IDENTIFIER && !visit(context, t->begin, t->end))
            return false;
    }
    return true;
}

/* --- where items end -------------------------------------------------------------------------- */

static bool is_attribute(const struct tokens *tokens, size_t at)
{
    return (token_is(tokens, at, "__attribute__") || token_is(tokens, at, "_Alignas") ||
            token_is(tokens, at, "__asm__") || token_is(tokens, at, "_Static_assert") ||
            token_is(tokens, at, "__typeof__") || token_is(tokens, at, "typeof")) &&
           token_is(tokens, at + 1, "(");
}

/* Is the `{` at `at` the body of a function? It stands behind a parameter list. */
static bool is_body(const struct tokens *tokens, size_t begin, size_t at)
{
    if (at <= begin + 1 || !token_is(tokens, at - 1, ")"))
        return false;
    const size_t open = tokens->items[at - 1].match;
    return open > begin && !is_attribute(tokens, open - 1);
}

static size_t item_end(const struct tokens *tokens, size_t begin)
{
    if (tokens->items[begin].kind == TOKEN_DIRECTIVE)
        return begin + 1;
    size_t at = begin;
    while (at < tokens->count && tokens->items[at].kind != TOKEN_DIRECTIVE) {
        if (token_is(tokens, at, ";"))
            return at + 1;
        if (token_is(tokens, at, "{") && is_body(tokens, begin, at))
            return tokens->items[at].match + 1;
        if (token_is(tokens, at, "{") || token_is(tokens, at, "(") || token_is(tokens, at, "["))
            at = tokens->items[at].match;
        at++;
    }
    return at > begin ? at : begin + 1;
}

/* --- what items declare ----------------------------------------------------------------------- */

struct naming {
    const struct tokens *tokens;
    struct arena *arena;
    const char *names[MAX_NAMES_OF_ITEM];
    size_t count;
};

static void add_name(struct naming *n, size_t at)
{
    if (n->count < MAX_NAMES_OF_ITEM)
        n->names[n->count++] = token_text(n->tokens, at, n->arena);
}

static bool is_one_of(const struct tokens *tokens, size_t at, const char *const *words)
{
    for (; *words; words++) {
        if (token_is(tokens, at, *words))
            return true;
    }
    return false;
}

/* The constants of an enum in [open, close]. */
static void name_constants(struct naming *n, size_t open)
{
    const size_t close = n->tokens->items[open].match;
    bool is_first = true;
    for (size_t i = open + 1; i < close; i++) {
        if (is_first && token_is_identifier(n->tokens, i))
            add_name(n, i);
        is_first = token_is(n->tokens, i, ",");
        if (token_is(n->tokens, i, "("))
            i = n->tokens->items[i].match;
    }
}

/* Past `struct tag {...}`; names the tag where it is declared here, and constants. */
static size_t read_tag(struct naming *n, size_t at)
{
    const bool is_enum = token_is(n->tokens, at, "enum");
    at++;
    while (is_attribute(n->tokens, at))
        at = n->tokens->items[at + 1].match + 1;
    const size_t tag = token_is_identifier(n->tokens, at) ? at++ : TOKEN_NONE;
    const bool has_body = token_is(n->tokens, at, "{");
    if (tag != TOKEN_NONE && (has_body || token_is(n->tokens, at, ";")))
        add_name(n, tag);
    if (has_body && is_enum)
        name_constants(n, at);
    return has_body ? n->tokens->items[at].match + 1 : at;
}

/* Past an initialiser: at the comma or the semicolon behind it. */
static size_t skip_initialiser(const struct tokens *tokens, size_t at, size_t end)
{
    while (at < end && !token_is(tokens, at, ",") && !token_is(tokens, at, ";")) {
        if (token_is(tokens, at, "{") || token_is(tokens, at, "(") || token_is(tokens, at, "["))
            at = tokens->items[at].match;
        at++;
    }
    return at;
}

/* `name` is declared where this follows it. In front of `(*name)` stands a type. */
static bool ends_declarator(const struct tokens *tokens, size_t at)
{
    static const char *const ends[] = {";", ",", "=", "[", "(", NULL};
    while (is_attribute(tokens, at))
        at = tokens->items[at + 1].match + 1;
    return is_one_of(tokens, at, ends) &&
           !(token_is(tokens, at, "(") && token_is(tokens, at + 1, "*"));
}

/* `(*name)`, `(*name[4])`: a pointer to a function or an array. */
static void name_in_parentheses(struct naming *n, size_t open)
{
    size_t at = open + 1;
    if (!token_is(n->tokens, at, "*"))
        return;
    while (token_is(n->tokens, at, "*") || token_is(n->tokens, at, "const"))
        at++;
    if (token_is_identifier(n->tokens, at))
        add_name(n, at);
}

static void name_declaration(struct naming *n, size_t begin, size_t end)
{
    static const char *const tags[] = {"struct", "union", "enum", NULL};
    const struct tokens *tokens = n->tokens;
    size_t at = begin;
    while (at < end) {
        if (is_attribute(tokens, at)) {
            at = tokens->items[at + 1].match + 1;
        } else if (is_one_of(tokens, at, tags)) {
            at = read_tag(n, at);
        } else if (token_is(tokens, at, "=")) {
            at = skip_initialiser(tokens, at + 1, end);
        } else if (token_is(tokens, at, "(") || token_is(tokens, at, "[") ||
                   token_is(tokens, at, "{")) {
            if (token_is(tokens, at, "("))
                name_in_parentheses(n, at);
            at = tokens->items[at].match + 1;
        } else {
            if (token_is_identifier(tokens, at) && ends_declarator(tokens, at + 1))
                add_name(n, at);
            at++;
        }
    }
}

/* The name of a macro. */
static void name_macro(struct naming *n, const struct token *t)
{
    const char *text = n->tokens->text;
    size_t at = after_hash(n->tokens, t);
    const size_t end = word_end(text, at, t->end);
    if (end - at != strlen("define") || strncmp(text + at, "define", end - at) != 0)
        return;
    at = end;
    while (at < t->end && (text[at] == ' ' || text[at] == '\t'))
        at++;
    n->names[n->count++] = arena_strndup(n->arena, text + at, word_end(text, at, t->end) - at);
}

static void name_item(const struct tokens *tokens, struct arena *arena, struct toplevel_item *item)
{
    struct naming n = {.tokens = tokens, .arena = arena};
    if (item->is_directive)
        name_macro(&n, &tokens->items[item->begin]);
    else
        name_declaration(&n, item->begin, item->end);
    item->names = arena_memdup(arena, n.names, n.count * sizeof *n.names);
    item->name_count = n.count;
}

bool toplevel_read(const char *text, struct arena *arena, struct toplevel *out, const char **why)
{
    struct toplevel top = {0};
    if (!lex(text, arena, &top.tokens, why))
        return false;
    top.items = arena_array(arena, top.tokens.count + 1, sizeof *top.items);
    for (size_t at = 0; at < top.tokens.count;) {
        struct toplevel_item *item = &top.items[top.count++];
        *item =
            (struct toplevel_item){.begin = at,
                                   .end = item_end(&top.tokens, at),
                                   .is_directive = top.tokens.items[at].kind == TOKEN_DIRECTIVE};
        name_item(&top.tokens, arena, item);
        at = item->end;
    }
    *out = top;
    return true;
}

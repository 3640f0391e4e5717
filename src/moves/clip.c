#include "moves/clip.h"

#include "base/buf.h"

#include <string.h>

struct clip_scope {
    const struct tokens *tokens;
    const struct definition *definition;
    size_t type, var;  /* of j */
    size_t begin, end; /* the body */
    struct arena *arena;
};

static bool is_signed_type(const struct tokens *tokens, size_t at)
{
    static const char *const types[] = {"int64_t", "int32_t", "int16_t",
                                        "int",     "long",    "ptrdiff_t"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (token_is(tokens, at, types[i]))
            return true;
    return false;
}

/* Every declaration of the name, in the parameters and the body of the function, has j's type. */
static bool has_type_of_j(const struct clip_scope *s, size_t name)
{
    bool found = false;
    for (size_t i = s->definition->open + 1; i < s->definition->body_close; i++) {
        if (!token_is_identifier(s->tokens, i) || !token_same(s->tokens, i, name) ||
            !token_is_identifier(s->tokens, i - 1) || token_is(s->tokens, i - 1, "return") ||
            token_is(s->tokens, i - 1, "else"))
            continue;
        if (!token_same(s->tokens, i - 1, s->type))
            return false;
        found = true;
    }
    return found;
}

/* A sum of products of integer constants and variables of j's type that are known before the body.
 */
static bool is_plain(const struct clip_scope *s, size_t begin, size_t end)
{
    static const char *const allowed[] = {"+", "-", "*", "(", ")"};
    for (size_t i = begin; i < end; i++) {
        bool ok = false;
        if (token_is_identifier(s->tokens, i)) {
            ok = has_type_of_j(s, i) && !token_same(s->tokens, i, s->var) &&
                 !source_is_declared_in(s->tokens, i, s->begin, s->end);
        } else if (s->tokens->items[i].kind == TOKEN_NUMBER) {
            const char *text = token_text(s->tokens, i, s->arena);
            ok = strspn(text, "0123456789") == strlen(text);
        } else {
            for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
                ok = ok || token_is(s->tokens, i, allowed[k]);
        }
        if (!ok)
            return false;
    }
    return begin < end;
}

/* `a + j - b` in [begin, end): the text of `a + 0 - b`; NULL where it is not of that form. */
static const char *offset_of(const struct clip_scope *s, size_t begin, size_t end)
{
    const struct tokens *t = s->tokens;
    size_t at = begin;
    while (at < end && !token_same(t, at, s->var))
        at += token_is(t, at, "(") ? t->items[at].match - at + 1 : 1;
    if (at >= end || (at > begin && !token_is(t, at - 1, "+")) ||
        (at + 1 < end && !token_is(t, at + 1, "+") && !token_is(t, at + 1, "-")) ||
        (at > begin && !is_plain(s, begin, at - 1)) || (at + 1 < end && !is_plain(s, at + 2, end)))
        return NULL;
    return arena_printf(s->arena, "%s 0 %s", token_range_text(t, begin, at, s->arena),
                        token_range_text(t, at + 1, end, s->arena));
}

/* What the variable `name` is besides j: of j itself "0", of `const T s = j + off` off. */
static const char *offset_of_name(const struct clip_scope *s, size_t name)
{
    const struct tokens *t = s->tokens;
    if (token_same(t, name, s->var))
        return "0";
    size_t declaration = TOKEN_NONE;
    for (size_t i = s->begin + 1; i < s->end; i++)
        if (token_is_identifier(t, i) && token_same(t, i, name) && token_is(t, i + 1, "=") &&
            token_same(t, i - 1, s->type)) {
            if (declaration != TOKEN_NONE)
                return NULL;
            declaration = i;
        }
    if (declaration == TOKEN_NONE || !token_is(t, declaration - 2, "const"))
        return NULL;
    return offset_of(s, declaration + 2, source_statement_end(t, declaration) - 1);
}

/* One comparison [begin, end) becomes a bound of j. */
static bool read_bound(const struct clip_scope *s, size_t begin, size_t end, struct clip *clip)
{
    const struct tokens *t = s->tokens;
    if (end - begin < 3 || !token_is_identifier(t, begin) || !is_plain(s, begin + 2, end))
        return false;
    const bool is_low = token_is(t, begin + 1, ">=") || token_is(t, begin + 1, ">");
    const bool is_high = token_is(t, begin + 1, "<") || token_is(t, begin + 1, "<=");
    const char *offset = is_low || is_high ? offset_of_name(s, begin) : NULL;
    size_t *count = is_low ? &clip->low_count : &clip->high_count;
    if (!offset || *count == CLIP_MAX)
        return false;
    const bool plus_one = token_is(t, begin + 1, ">") || token_is(t, begin + 1, "<=");
    const char *bound =
        arena_printf(s->arena, "(%s) - (%s)%s", token_range_text(t, begin + 2, end, s->arena),
                     offset, plus_one ? " + 1" : "");
    (is_low ? clip->low : clip->high)[(*count)++] = bound;
    return true;
}

/* The `if` without else that ends the body; nothing but declarations before it. */
static size_t find_if(const struct clip_scope *s)
{
    const struct tokens *t = s->tokens;
    size_t at = s->begin, end = s->end;
    if (token_is(t, at, "{")) {
        at++;
        end--;
    }
    while (token_is(t, at, "const"))
        at = source_statement_end(t, at);
    if (!token_is(t, at, "if") || source_statement_end(t, at) != end)
        return TOKEN_NONE;
    const size_t then = t->items[at + 1].match + 1;
    return source_statement_end(t, then) == end ? at : TOKEN_NONE;
}

/* The condition [begin, end), a conjunction: what bounds j goes into `clip`, what does not into
 * `rest`. False where it is no plain conjunction. */
static bool read_condition(const struct clip_scope *s, size_t begin, size_t end, struct clip *clip,
                           struct buf *rest)
{
    const struct tokens *t = s->tokens;
    size_t part = begin;
    for (size_t i = begin; i <= end; i++) {
        if (token_is(t, i, "||") || token_is(t, i, "?") || token_is(t, i, "="))
            return false;
        if (i < end && token_is(t, i, "("))
            i = t->items[i].match;
        if (i != end && !token_is(t, i, "&&"))
            continue;
        if (!read_bound(s, part, i, clip))
            (void)buf_printf(rest, "%s%s", rest->length ? " && " : "",
                             token_range_text(t, part, i, s->arena));
        part = i + 1;
    }
    return true;
}

bool clip_find(const struct tokens *tokens, const struct definition *definition, size_t type,
               size_t var, size_t begin, size_t end, struct arena *arena, struct clip *out)
{
    const struct clip_scope s = {tokens, definition, type, var, begin, end, arena};
    const size_t at = find_if(&s);
    if (at == TOKEN_NONE || var != type + 1 || !is_signed_type(tokens, type))
        return false;
    const size_t close = tokens->items[at + 1].match;
    CLEANUP(buf_free) struct buf rest = {0};
    struct clip clip = {0};
    if (!read_condition(&s, at + 2, close, &clip, &rest) || clip.low_count + clip.high_count == 0)
        return false;
    clip.rest = rest.length ? arena_strdup(arena, buf_text(&rest)) : NULL;
    clip.condition = clip.rest ? at + 2 : at;
    clip.condition_end = clip.rest ? close : close + 1;
    *out = clip;
    return true;
}

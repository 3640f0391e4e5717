/* Questions to the tokens of a source. */
#include "rule/internal.h"

#include "base/hash.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

bool rule_token_is(const struct rule_source *s, size_t at, const char *text)
{
    return at < s->count && str_equal(s->tokens[at].text, text);
}

bool rule_token_is_keyword(const struct rule_source *s, size_t at)
{
    return at < s->count && s->tokens[at].kind == RULE_TOKEN_NAME &&
           name_is_among(s->tokens[at].text,
                         "auto break case char const continue default do double else enum extern "
                         "float for goto if inline int long register restrict return short signed "
                         "sizeof static struct switch typedef union unsigned void volatile while "
                         "_Alignas _Alignof _Bool _Generic _Static_assert asm typeof __typeof__ "
                         "__attribute__ __restrict __restrict__ __inline __inline__ __extension__ "
                         "_Pragma");
}

bool rule_token_is_name(const struct rule_source *s, size_t at)
{
    return at < s->count && s->tokens[at].kind == RULE_TOKEN_NAME && !rule_token_is_keyword(s, at);
}

bool rule_token_is_type(const struct rule_source *s, size_t at)
{
    return at < s->count && s->tokens[at].kind == RULE_TOKEN_NAME &&
           name_is_basic_type(s->tokens[at].text);
}

bool rule_token_in(const struct rule_source *s, size_t at, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rule_token_is(s, at, texts[i]))
            return true;
    }
    return false;
}

int64_t rule_token_argument_count(const struct rule_source *s, size_t open)
{
    const size_t close = s->tokens[open].match;
    int64_t count = 1;
    if (close == RULE_NO_TOKEN)
        return -1;
    if (close == open + 1 || (close == open + 2 && rule_token_is(s, open + 1, "void")))
        return 0;
    for (size_t i = open + 1; i < close; i++) {
        const size_t match = s->tokens[i].match;
        if (match != RULE_NO_TOKEN && match > i)
            i = match;
        else
            count += rule_token_is(s, i, ",");
    }
    return count;
}

bool rule_token_glob(const char *glob, const char *text)
{
    /* The last star seen may take one letter more. */
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*glob == '*') {
            star = glob++;
            retry = text;
        } else if (*glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

struct first_uses rule_token_first_uses(const struct rule_source *s, struct arena *arena)
{
    size_t slots = 16;
    while (slots < s->count * 2)
        slots *= 2;
    size_t *table = arena_array(arena, slots, sizeof *table); /* token + 1; 0: free */
    struct first_uses out = {.tokens = arena_array(arena, s->count + 1, sizeof *out.tokens)};
    for (size_t i = 0; i < s->count; i++) {
        if (s->tokens[i].kind != RULE_TOKEN_NAME)
            continue;
        const char *text = s->tokens[i].text;
        size_t at = (size_t)hash_fnv1a(text, strlen(text)) & (slots - 1);
        while (table[at] != 0 && !str_equal(s->tokens[table[at] - 1].text, text))
            at = (at + 1) & (slots - 1);
        if (table[at] == 0) {
            table[at] = i + 1;
            out.tokens[out.count++] = i;
        }
    }
    return out;
}

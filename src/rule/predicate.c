/* Reading and asking predicates. */
#include "rule/predicate.h"

#include "base/str.h"
#include "rule/internal.h"

#include <string.h>

enum { MOST_CONDITIONS = 8, MOST_SEQUENCE = 24 };

/* A condition in words: "calls _mm256_fmadd_ps with 2". */
struct condition {
    const char *words[MOST_SEQUENCE + 1];
    size_t count;
};

static bool uses(const struct rule_source *s, const struct condition *c)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->tokens[i].kind == RULE_TOKEN_NAME && rule_token_glob(c->words[1], s->tokens[i].text))
            return true;
    }
    return false;
}

/* Used, and nothing before the first use declares it. */
static bool is_undefined(const struct rule_source *s, const struct condition *c)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->tokens[i].kind == RULE_TOKEN_DIRECTIVE && strstr(s->tokens[i].text, c->words[1]) &&
            str_starts_with(s->tokens[i].text, "#define"))
            return false;
        if (!str_equal(s->tokens[i].text, c->words[1]))
            continue;
        const bool is_declared = i > 0 &&
                                 (rule_token_is_type(s, i - 1) || rule_token_is_name(s, i - 1) ||
                                  rule_token_is(s, i - 1, "*")) &&
                                 s->tokens[i].depth == 0;
        return !is_declared;
    }
    return false;
}

static bool calls(const struct rule_source *s, const struct condition *c)
{
    int64_t wanted = -1;
    if (c->count == 4 && !str_parse_int64(c->words[3], &wanted))
        return false;
    for (size_t i = 0; i + 1 < s->count; i++) {
        if (s->tokens[i].kind == RULE_TOKEN_NAME && rule_token_is(s, i + 1, "(") &&
            rule_token_glob(c->words[1], s->tokens[i].text) &&
            (wanted < 0 || rule_token_argument_count(s, i + 1) == wanted))
            return true;
    }
    return false;
}

static bool includes(const struct rule_source *s, const struct condition *c)
{
    for (size_t i = 0; i < s->count; i++) {
        const char *text = s->tokens[i].text;
        const char *open = strpbrk(text, "<\"");
        const size_t length = strlen(c->words[1]);
        if (s->tokens[i].kind == RULE_TOKEN_DIRECTIVE && str_starts_with(text, "#include") &&
            open && strncmp(open + 1, c->words[1], length) == 0 && strchr(">\"", open[1 + length]))
            return true;
    }
    return false;
}

static bool lacks(const struct rule_source *s, const struct condition *c)
{
    return !includes(s, c);
}

static bool has_flag(const struct rule_source *s, const struct condition *c)
{
    for (size_t i = 0; i < s->flag_count; i++) {
        if (rule_token_glob(c->words[1], s->flags[i]))
            return true;
    }
    return false;
}

static bool is_isa_off(const struct rule_source *s, const struct condition *c)
{
    return look_isa_is_off(s, c->words[1]);
}

static bool is_of_language(const struct rule_source *s, const struct condition *c)
{
    for (size_t i = 0; i < s->count; i++) {
        const char *language =
            s->tokens[i].kind == RULE_TOKEN_NAME ? name_foreign_language(s->tokens[i].text) : NULL;
        if (language && str_equal(language, c->words[1]))
            return true;
        if (str_equal(c->words[1], "C++") && rule_token_is(s, i, "std") &&
            rule_token_is(s, i + 1, ":"))
            return true;
    }
    return false;
}

static bool fits(const struct rule_token *token, const char *word)
{
    switch (token->kind) {
    case RULE_TOKEN_NAME:
        return str_equal(word, "$name") ? true : rule_token_glob(word, token->text);
    case RULE_TOKEN_NUMBER:
        return str_equal(word, "$number") || str_equal(word, token->text);
    case RULE_TOKEN_STRING:
        return str_equal(word, "$string");
    case RULE_TOKEN_MARK:
        return str_equal(word, token->text) ||
               (str_equal(word, "$end") && str_equal(token->text, ";"));
    case RULE_TOKEN_DIRECTIVE:
    case RULE_TOKEN_STRAY:
        break;
    }
    return false;
}

static bool has_sequence(const struct rule_source *s, const struct condition *c)
{
    const size_t length = c->count - 1;
    for (size_t i = 0; i + length <= s->count; i++) {
        size_t k = 0;
        while (k < length && fits(&s->tokens[i + k], c->words[1 + k]))
            k++;
        if (k == length)
            return true;
    }
    return false;
}

/* Conditions with words behind their name. */
static const struct {
    const char *name;
    size_t least, most; /* words, the name included */
    bool (*holds)(const struct rule_source *s, const struct condition *c);
} questions[] = {
    {"uses", 2, 2, uses},
    {"undefined", 2, 2, is_undefined},
    {"calls", 2, 4, calls},
    {"includes", 2, 2, includes},
    {"lacks", 2, 2, lacks},
    {"flag", 2, 2, has_flag},
    {"isa-off", 2, 2, is_isa_off},
    {"language", 2, 2, is_of_language},
    {"sequence", 3, MOST_SEQUENCE + 1, has_sequence},
};

static bool split(const char *text, size_t length, struct arena *arena, struct condition *out)
{
    *out = (struct condition){0};
    const char *end = text + length;
    while (text < end) {
        const size_t word =
            strcspn(text, " ") < (size_t)(end - text) ? strcspn(text, " ") : (size_t)(end - text);
        if (out->count == MOST_SEQUENCE + 1)
            return false;
        if (word > 0)
            out->words[out->count++] = arena_strndup(arena, text, word);
        text += word + 1;
    }
    return out->count > 0;
}

/* Asks one condition; `*known` tells whether there is such a one. `s` NULL: only that. */
static bool condition_holds(const struct condition *c, const struct rule_source *s, bool *known)
{
    *known = true;
    for (size_t i = 0; i < look_count; i++) {
        if (c->count == 1 && str_equal(c->words[0], looks[i].condition))
            return s && looks[i].holds(s);
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (!str_equal(c->words[0], questions[i].name) || c->count < questions[i].least ||
            c->count > questions[i].most)
            continue;
        int64_t ignored = 0;
        if (str_equal(c->words[0], "calls") && c->count > 2 &&
            !(c->count == 4 && str_equal(c->words[2], "with") &&
              str_parse_int64(c->words[3], &ignored)))
            continue;
        return s && questions[i].holds(s, c);
    }
    *known = false;
    return false;
}

/* The whole predicate; NULL source: is it one? `bad` names the first condition that is none. */
static bool all_hold(const char *predicate, const struct rule_source *source, bool *known,
                     char *bad, size_t bad_bytes)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    bool holds = true;
    *known = predicate[0] != '\0' && strlen(predicate) < PREDICATE_MAX_BYTES;
    bad[0] = '\0';
    for (size_t i = 0; *known && *predicate; i++) {
        const char *end = strstr(predicate, "; ");
        const size_t length = end ? (size_t)(end - predicate) : strlen(predicate);
        struct condition condition;
        *known = i < MOST_CONDITIONS && !(end && end[2] == '\0') &&
                 split(predicate, length, &scratch, &condition);
        if (*known && !condition_holds(&condition, source, known))
            holds = false;
        if (!*known) {
            const size_t n = length < bad_bytes - 1 ? length : bad_bytes - 1;
            memcpy(bad, predicate, n);
            bad[n] = '\0';
        }
        if (*known && !holds && source)
            return false;
        predicate += length + (end ? 2 : 0);
    }
    return *known && holds;
}

bool rule_predicate_valid(const char *predicate, struct err *err)
{
    char bad[64];
    bool known = false;
    (void)all_hold(predicate, NULL, &known, bad, sizeof bad);
    if (known)
        return true;
    str_make_printable(bad);
    return err_set(err, ERR_BAD_INPUT, "'%s' is no condition of a rule", bad);
}

bool rule_predicate_holds(const char *predicate, const struct rule_source *source)
{
    char bad[64];
    bool known = false;
    return all_hold(predicate, source, &known, bad, sizeof bad);
}

/*
 * Predicates for a cause: first what its table row says, then what the places of its samples have
 * in common (anti-unification of the tokens around them). Whoever asks tries each on what failed
 * and on what passed.
 */
#include "rule/internal.h"
#include "rule/predicate.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

/* What foretells a cause; '%' is its subject. Several rows are tried in order. */
static const struct {
    const char *cause, *predicate;
} rows[] = {
    {"undeclared-name", "undeclared-name"},
    {"undeclared-function", "undeclared-function"},
    {"undefined-symbol", "undeclared-function"},
    {"unknown-type", "unknown-type"},
    {"missing-semicolon", "missing-semicolon"},
    {"open-bracket", "open-brace"},
    {"nested-function", "open-brace"},
    {"extra-brace", "extra-brace"},
    {"statement-outside-function", "extra-brace"},
    {"missing-parenthesis", "open-parenthesis"},
    {"expected-expression", "open-parenthesis"},
    {"open-comment", "open-comment"},
    {"open-literal", "open-literal"},
    {"open-conditional", "open-conditional"},
    {"stray-character", "stray-character"},
    {"redefinition", "redefinition"},
    {"write-to-const", "write-to-const"},
    {"argument-count", "argument-count"},
    {"undeclared-label", "undeclared-label"},
    {"refused-assembly", "uses *asm*"},
};

/* The same for causes that have a subject. */
static const struct {
    const char *cause, *predicate;
} subject_rows[] = {
    {"forbidden-function", "calls %"},
    {"missing-header", "includes %"},
    {"refused-header", "includes %"},
    {"refused-word", "uses %"},
    {"refused-attribute", "uses %"},
    {"refused-flag", "flag %"},
    {"bad-flag", "flag %"},
    {"foreign-language", "language %"},
    {"undefined-symbol", "undefined %"},
    {"undeclared-function", "undefined %"},
    {"undeclared-name", "undefined %"},
    {"unknown-type", "undefined %"},
};

/* A list that is filled until the n-th item was met. */
struct list {
    size_t wanted;
    const char *found;
    struct arena *arena;
};

static bool offer(struct list *list, const char *predicate)
{
    if (list->found || !predicate || strlen(predicate) >= PREDICATE_MAX_BYTES)
        return list->found != NULL;
    if (list->wanted-- == 0)
        list->found = predicate;
    return list->found != NULL;
}

static char *with_subject(const char *pattern, const char *subject, struct arena *arena)
{
    const char *at = strchr(pattern, '%');
    return arena_printf(arena, "%.*s%s%s", (int)(at - pattern), pattern, subject, at + 1);
}

static bool is_cause(const struct cause *cause, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(cause->key, name, length) == 0 &&
           (cause->key[length] == '\0' || cause->key[length] == ' ');
}

static bool all_hold(const char *predicate, const struct rule_sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!rule_predicate_holds(predicate, samples[i].source))
            return false;
    }
    return true;
}

/* A known name that nobody declared: its header is what all samples lack. */
static void offer_subject(struct list *list, const struct cause *cause,
                          const struct rule_sample *samples, size_t count)
{
    const char *header = name_header(cause->subject);
    if (cause->subject[0] == '\0' || strpbrk(cause->subject, " ;"))
        return;
    for (size_t i = 0; i < sizeof subject_rows / sizeof *subject_rows; i++) {
        if (!is_cause(cause, subject_rows[i].cause))
            continue;
        const char *plain = with_subject(subject_rows[i].predicate, cause->subject, list->arena);
        const char *lacks = header && header[0] != '\0' && header[0] != '?'
                                ? arena_printf(list->arena, "lacks %s", header)
                                : NULL;
        if (lacks && str_starts_with(plain, "undefined") && all_hold(lacks, samples, count))
            (void)offer(list, arena_printf(list->arena, "%s; %s", plain, lacks));
        else
            (void)offer(list, plain);
    }
}

static void offer_isa(struct list *list, const struct cause *cause)
{
    if (!is_cause(cause, "missing-isa"))
        return;
    if (str_equal(cause->subject, "avx512"))
        (void)offer(list, "uses _mm512_*; isa-off avx512");
    else if (str_equal(cause->subject, "fma")) {
        (void)offer(list, "calls _mm256_f*add_*; isa-off fma");
        (void)offer(list, "uses _mm*_f*; isa-off fma");
    } else if (str_equal(cause->subject, "avx"))
        (void)offer(list, "uses _mm256_*; isa-off avx");
}

/* The token at or after a place; RULE_NO_TOKEN where there is none. */
static size_t token_at(const struct rule_sample *sample)
{
    for (size_t i = 0; sample->line > 0 && i < sample->source->count; i++) {
        const struct rule_token *token = &sample->source->tokens[i];
        const int64_t end = token->column + (int64_t)strlen(token->text);
        if (token->line > sample->line ||
            (token->line == sample->line && (sample->column == 0 || end > sample->column)))
            return i;
    }
    return RULE_NO_TOKEN;
}

/* The call of `name` on the line of the sample. */
static size_t call_at(const struct rule_sample *sample, const char *name)
{
    size_t best = RULE_NO_TOKEN;
    for (size_t i = 0; i + 1 < sample->source->count; i++) {
        if (str_equal(sample->source->tokens[i].text, name) &&
            rule_token_is(sample->source, i + 1, "(") &&
            sample->source->tokens[i].line <= sample->line)
            best = i;
    }
    return best;
}

/* "calls NAME with 2", where every sample has so many. */
static void offer_call(struct list *list, const struct cause *cause,
                       const struct rule_sample *samples, size_t count)
{
    int64_t common = -1;
    if (!is_cause(cause, "argument-count") || cause->subject[0] == '\0')
        return;
    for (size_t i = 0; i < count; i++) {
        const size_t at = call_at(&samples[i], cause->subject);
        const int64_t here =
            at == RULE_NO_TOKEN ? -1 : rule_token_argument_count(samples[i].source, at + 1);
        if (here < 0 || (common >= 0 && here != common))
            return;
        common = here;
    }
    if (common >= 0)
        (void)offer(list, arena_printf(list->arena, "calls %s with %lld", cause->subject,
                                       (long long)common));
}

/* What two words of a pattern have in common; NULL where nothing. */
static const char *unify_names(const char *a, const char *b, struct arena *arena)
{
    enum { LEAST_PREFIX = 4 };
    size_t same = 0;
    while (a[same] && a[same] == b[same] && a[same] != '*')
        same++;
    while (same > 0 && a[same - 1] != '_')
        same--;
    return same >= LEAST_PREFIX ? arena_printf(arena, "%.*s*", (int)same, a) : "$name";
}

static const char *word_of(const struct rule_token *token)
{
    if (token->kind == RULE_TOKEN_STRING)
        return "$string";
    if (token->kind == RULE_TOKEN_NAME || token->kind == RULE_TOKEN_NUMBER)
        return token->text;
    if (token->kind != RULE_TOKEN_MARK)
        return NULL;
    return str_equal(token->text, ";") ? "$end" : token->text;
}

/* The word that fits what `word` fits and this token too. */
static const char *unify(const char *word, const struct rule_source *s, size_t at,
                         struct arena *arena)
{
    const char *here = at < s->count ? word_of(&s->tokens[at]) : NULL;
    if (!word || !here)
        return NULL;
    if (str_equal(word, here))
        return word;
    const bool is_number = s->tokens[at].kind == RULE_TOKEN_NUMBER;
    const bool was_number = str_equal(word, "$number") || strchr("0123456789.", word[0]);
    if (is_number && was_number && !str_equal(word, "..."))
        return "$number";
    const bool was_name =
        str_equal(word, "$name") ||
        (strchr("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", word[0]) &&
         word[0] != '\0');
    if (!rule_token_is_name(s, at) || !was_name || str_equal(word, "$string"))
        return NULL;
    return str_equal(word, "$name") ? word : unify_names(word, here, arena);
}

/* A keyword or type of the first sample is not to be one of many names. */
static bool is_fixed(const struct rule_source *s, size_t at)
{
    return rule_token_is_keyword(s, at) || rule_token_is_type(s, at);
}

static const char *common_word(const struct rule_sample *samples, const size_t *anchors,
                               size_t count, int64_t offset, struct arena *arena)
{
    const char *word = NULL;
    for (size_t i = 0; i < count; i++) {
        const int64_t at = (int64_t)anchors[i] + offset;
        if (at < 0 || (size_t)at >= samples[i].source->count)
            return NULL;
        const struct rule_token *token = &samples[i].source->tokens[at];
        if (i == 0) {
            word = word_of(token);
            if (word && rule_token_is_name(samples[i].source, (size_t)at) &&
                !is_fixed(samples[i].source, (size_t)at) && !cause_name_is_known(word))
                word = "$name"; /* a name that the source chose */
            if (word && token->kind == RULE_TOKEN_NUMBER && count > 1)
                word = token->text;
            continue;
        }
        if (word && str_equal(word, "$name") && rule_token_is_name(samples[i].source, (size_t)at) &&
            !is_fixed(samples[i].source, (size_t)at))
            continue;
        if (word && !str_equal(word, word_of(token) ? word_of(token) : "") &&
            is_fixed(samples[i].source, (size_t)at))
            return NULL;
        word = unify(word, samples[i].source, (size_t)at, arena);
        if (!word)
            return NULL;
    }
    return word;
}

/* Tokens in a row that all samples have around their places: `reach` to each side at most. */
static const char *common_sequence(const struct rule_sample *samples, size_t count, int64_t left,
                                   int64_t right, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    size_t *anchors = arena_array(arena, count + 1, sizeof *anchors);
    int64_t begin = 0, end = 0;
    size_t words = 0;
    for (size_t i = 0; i < count; i++) {
        anchors[i] = token_at(&samples[i]);
        if (anchors[i] == RULE_NO_TOKEN)
            return NULL;
    }
    while (begin > -left && common_word(samples, anchors, count, begin - 1, arena))
        begin--;
    while (end < right && common_word(samples, anchors, count, end, arena))
        end++;
    (void)buf_append_str(&text, "sequence");
    for (int64_t offset = begin; offset < end; offset++, words++)
        (void)buf_printf(&text, " %s", common_word(samples, anchors, count, offset, arena));
    return words >= 2 ? arena_strdup(arena, buf_text(&text)) : NULL;
}

/* Compilers put the place of one mistake at different tokens: those of one family. */
static size_t samples_of(const char *family, const struct rule_sample *samples, size_t count,
                         struct rule_sample *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(samples[i].source->compiler_family, family))
            out[kept++] = samples[i];
    }
    return kept;
}

static void offer_sequences(struct list *list, const struct rule_sample *samples, size_t count)
{
    static const int64_t reaches[][2] = {{3, 8}, {3, 4}, {6, 12}, {1, 3}};
    for (size_t i = 0; i < sizeof reaches / sizeof *reaches && !list->found; i++)
        (void)offer(list,
                    common_sequence(samples, count, reaches[i][0], reaches[i][1], list->arena));
}

const char *rule_predicate_propose(const struct cause *cause, const struct rule_sample *samples,
                                   size_t count, size_t n, struct arena *arena)
{
    struct list list = {.wanted = n, .arena = arena};
    offer_isa(&list, cause);
    offer_call(&list, cause, samples, count);
    offer_subject(&list, cause, samples, count);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (is_cause(cause, rows[i].cause))
            (void)offer(&list, rows[i].predicate);
    }
    static const char *const families[] = {"gcc", "clang"};
    offer_sequences(&list, samples, count);
    for (size_t i = 0; i < sizeof families / sizeof *families && !list.found; i++) {
        struct rule_sample *some = arena_array(arena, count + 1, sizeof *some);
        const size_t kept = samples_of(families[i], samples, count, some);
        if (kept > 0 && kept < count)
            offer_sequences(&list, some, kept);
    }
    return list.found;
}

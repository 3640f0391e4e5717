/*
 * Any bytes as what a compiler said, as a predicate and as a source: told apart or refused, never a
 * crash. A predicate that is proposed is one, and the tokens of a source read back as themselves.
 */
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "rule/cause.h"
#include "rule/predicate.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const flags[] = {"-O3", "-march=x86-64-v3"};

static const struct rule_source *read(const char *text, struct arena *arena)
{
    return rule_source_read(&(struct rule_candidate){.source = text,
                                                     .compiler_family = "gcc",
                                                     .isa = "avx2,fma",
                                                     .flags = flags,
                                                     .flag_count = 2},
                            arena);
}

static void check_cause(const struct cause *cause)
{
    if (cause->is_lesson != (cause->key[0] != '\0') || cause->is_lesson == (cause->why_not[0] != 0))
        BUG("fuzz: a cause that is and is no lesson");
    if (cause->line < 0 || cause->column < 0)
        BUG("fuzz: a place before the first");
}

static void check_proposals(const struct cause *cause, const struct rule_source *source,
                            struct arena *arena)
{
    enum { MOST = 32 };
    const struct rule_sample sample = {source, cause->line, cause->column};
    const char *predicate = NULL;
    for (size_t n = 0;
         n < MOST && (predicate = rule_predicate_propose(cause, &sample, 1, n, arena)) != NULL; n++)
        (void)rule_predicate_holds(predicate, source);
}

static void check_tokens(const struct rule_source *source, struct arena *arena)
{
    if (source->shape.has_stray || source->shape.open_literal || source->shape.open_comment)
        return;
    const struct rule_source *again = read(rule_source_text(source, NULL, arena), arena);
    if (again->count != source->count)
        BUG("fuzz: %zu tokens became %zu", source->count, again->count);
    for (size_t i = 0; i < source->count; i++) {
        if (!str_equal(source->tokens[i].text, again->tokens[i].text))
            BUG("fuzz: '%s' became '%s'", source->tokens[i].text, again->tokens[i].text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    enum { MOST_BYTES = 4096 };
    if (size > MOST_BYTES)
        return 0;
    const char *said = arena_strndup(&arena, (const char *)data, size);
    const size_t first = strlen(said);
    const char *text = first < size
                           ? arena_strndup(&arena, (const char *)data + first + 1, size - first - 1)
                           : said;
    const struct rule_source *source = read(text, &arena);
    const struct failure failure = {.kind = VERDICT_BUILD_FAILED,
                                    .mechanism = "compiler",
                                    .evidence = said,
                                    .diagnostics = said,
                                    .entry = "f"};
    const struct cause cause = cause_of(&failure, &arena);
    check_cause(&cause);
    check_proposals(&cause, source, &arena);
    check_tokens(source, &arena);
    if (rule_predicate_valid(said, &err))
        (void)rule_predicate_holds(said, source);
    else if (err.message[0] == '\0' || rule_predicate_holds(said, source))
        BUG("fuzz: a predicate that is none holds, or is refused without a word");
    return 0;
}

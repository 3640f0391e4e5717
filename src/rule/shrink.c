#include "rule/shrink.h"

#include "base/buf.h"
#include "rule/source.h"

#include <string.h>

/* A source in parts that can be left out one by one. */
struct parts {
    const char *text;
    const struct rule_source *tokens; /* NULL: the parts are lines */
    const size_t *lines;              /* where each begins, and the end */
    size_t count;
};

struct shrinking {
    const struct shrink_test *test;
    size_t tests, most_tests;
    struct arena *arena;
};

static char *without(const struct parts *parts, const bool *left_out, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    if (parts->tokens)
        return rule_source_text(parts->tokens, left_out, arena);
    for (size_t i = 0; i < parts->count; i++) {
        if (!left_out[i])
            (void)buf_append(&text, parts->text + parts->lines[i],
                             parts->lines[i + 1] - parts->lines[i]);
    }
    return arena_strdup(arena, buf_text(&text));
}

static struct parts lines_of(const char *text, struct arena *arena)
{
    const size_t length = strlen(text);
    size_t *lines = arena_array(arena, length + 2, sizeof *lines);
    struct parts parts = {.text = text, .lines = lines};
    for (size_t i = 0; i < length; i++) {
        if (i == 0 || text[i - 1] == '\n')
            lines[parts.count++] = i;
    }
    lines[parts.count] = length;
    return parts;
}

static bool ask(struct shrinking *s, const char *source, bool *fails, struct err *err)
{
    *fails = false;
    if (s->tests >= s->most_tests)
        return true;
    s->tests++;
    return s->test->fails(s->test->context, source, fails, err);
}

/* Leaves out runs of `size` parts wherever it still fails; `*changed` tells. */
static bool sweep(struct shrinking *s, const struct parts *parts, bool *left_out, size_t size,
                  bool *changed, struct err *err)
{
    for (size_t begin = 0; begin < parts->count && s->tests < s->most_tests; begin += size) {
        CLEANUP(arena_free) struct arena step = {0};
        bool *tried = arena_memdup(&step, left_out, (parts->count + 1) * sizeof *left_out);
        bool is_new = false, fails = false;
        for (size_t i = begin; i < begin + size && i < parts->count; i++) {
            is_new |= !tried[i];
            tried[i] = true;
        }
        if (!is_new)
            continue;
        if (!ask(s, without(parts, tried, &step), &fails, err))
            return false;
        if (!fails)
            continue;
        memcpy(left_out, tried, parts->count * sizeof *left_out);
        *changed = true;
    }
    return true;
}

static bool shrink_parts(struct shrinking *s, const struct parts *parts, const char **out,
                         bool *is_minimal, struct err *err)
{
    bool *left_out = arena_array(s->arena, parts->count + 1, sizeof *left_out);
    bool changed = true;
    for (size_t size = parts->count / 2; size > 1; size = (size + 1) / 2) {
        if (!sweep(s, parts, left_out, size, &changed, err))
            return false;
        if (size == 2)
            break;
    }
    for (changed = true; changed;) {
        changed = false;
        if (!sweep(s, parts, left_out, 1, &changed, err))
            return false;
    }
    *is_minimal = s->tests < s->most_tests;
    *out = without(parts, left_out, s->arena);
    return true;
}

bool rule_shrink(const char *source, size_t most_tests, const struct shrink_test *test,
                 struct arena *arena, struct shrunk *out, struct err *err)
{
    struct shrinking s = {.test = test, .most_tests = most_tests, .arena = arena};
    bool fails = false;
    if (!ask(&s, source, &fails, err))
        return false;
    if (!fails)
        return err_set(err, ERR_NOT_FOUND, "the source does not fail that way");
    const char *shorter = source;
    bool is_minimal = false;
    const struct parts lines = lines_of(source, arena);
    if (!shrink_parts(&s, &lines, &shorter, &is_minimal, err))
        return false;
    /* As tokens it is another text, without comments and blanks: only where it fails as well. */
    const struct rule_source *tokens =
        rule_source_read(&(struct rule_candidate){.source = shorter}, arena);
    const struct parts parts = {.tokens = tokens, .count = tokens->count};
    if (!ask(&s, rule_source_text(tokens, NULL, arena), &fails, err))
        return false;
    if (fails && !shrink_parts(&s, &parts, &shorter, &is_minimal, err))
        return false;
    *out = (struct shrunk){shorter, s.tests, is_minimal && fails};
    return true;
}

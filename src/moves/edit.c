#include "moves/edit.h"

#include "moves/source.h"

#include <ctype.h>
#include <string.h>

void edit_add(struct patches *patches, struct arena *arena, size_t at, size_t remove,
              const char *insert)
{
    if (patches->count == patches->capacity) {
        const size_t capacity = patches->capacity ? 2 * patches->capacity : 16;
        struct patch *items = arena_array(arena, capacity, sizeof *items);
        if (patches->count)
            memcpy(items, patches->items, patches->count * sizeof *items);
        patches->items = items;
        patches->capacity = capacity;
    }
    patches->items[patches->count++] = (struct patch){at, remove, insert};
}

/* Insertion sort: stable, and there are few. */
static void sort_patches(struct patches *patches)
{
    for (size_t i = 1; i < patches->count; i++) {
        const struct patch patch = patches->items[i];
        size_t j = i;
        for (; j > 0 && patches->items[j - 1].at > patch.at; j--)
            patches->items[j] = patches->items[j - 1];
        patches->items[j] = patch;
    }
}

char *edit_apply(const char *text, struct patches *patches, struct arena *arena)
{
    sort_patches(patches);
    size_t length = strlen(text) + 1;
    for (size_t i = 0; i < patches->count; i++)
        length += strlen(patches->items[i].insert);
    char *out = arena_alloc(arena, length), *end = out;
    size_t from = 0;
    for (size_t i = 0; i < patches->count; i++) {
        const struct patch *p = &patches->items[i];
        memcpy(end, text + from, p->at - from);
        end += p->at - from;
        memcpy(end, p->insert, strlen(p->insert));
        end += strlen(p->insert);
        from = p->at + p->remove;
    }
    memcpy(end, text + from, strlen(text + from) + 1);
    return out;
}

void edit_add_pragma(struct patches *patches, struct arena *arena, const struct tokens *tokens,
                     size_t at, const char *pragma)
{
    const size_t begin = tokens->items[at].begin;
    size_t line = begin;
    while (line > 0 && (tokens->text[line - 1] == ' ' || tokens->text[line - 1] == '\t'))
        line--;
    const bool begins_line = line == 0 || tokens->text[line - 1] == '\n';
    edit_add(patches, arena, begin, 0,
             begins_line ? arena_printf(arena, "#pragma %s\n%.*s", pragma, (int)(begin - line),
                                        tokens->text + line)
                         : arena_printf(arena, "_Pragma(\"%s\") ", pragma));
}

/* Where `restrict` goes in the parameter [begin, end); TOKEN_NONE where it is no pointer or has it.
 * The last star outside of parentheses is the outermost pointer. */
static size_t restrict_place(const struct tokens *tokens, size_t begin, size_t end)
{
    size_t star = TOKEN_NONE;
    for (size_t i = begin; i < end; i++) {
        if (token_is(tokens, i, "("))
            return TOKEN_NONE; /* a pointer to a function or to an array */
        if (token_is(tokens, i, "[")) {
            const bool is_plain =
                star == TOKEN_NONE && tokens->items[i].match == i + 1 && i + 2 == end;
            return is_plain ? i : TOKEN_NONE;
        }
        if (token_is(tokens, i, "*"))
            star = i;
    }
    for (size_t i = star; i != TOKEN_NONE && i < end; i++)
        if (token_is(tokens, i, "restrict") || token_is(tokens, i, "__restrict") ||
            token_is(tokens, i, "__restrict__"))
            return TOKEN_NONE;
    return star;
}

/* Two arguments in one buffer do overlap. */
static bool is_shared(const struct tokens *tokens, const struct definition *d, size_t parameter)
{
    const size_t place = source_parameter_place(tokens, d, parameter);
    return d->task && place < d->task->arg_count && task_arg_is_shared(d->task, place);
}

/* Adds what makes the pointer parameters of the definition restrict; do any share a buffer? */
static bool add_restrict(const struct tokens *tokens, const struct definition *d,
                         struct arena *arena, struct patches *patches)
{
    bool shares = false;
    size_t begin = d->open + 1;
    for (size_t i = begin; i <= d->close; i++) {
        if (i < d->close && (token_is(tokens, i, "(") || token_is(tokens, i, "["))) {
            i = tokens->items[i].match;
            continue;
        }
        if (i < d->close && !token_is(tokens, i, ","))
            continue;
        const size_t place = restrict_place(tokens, begin, i);
        const bool is_kept = is_shared(tokens, d, begin);
        shares = shares || is_kept;
        if (place != TOKEN_NONE && !is_kept)
            edit_add(patches, arena, tokens->items[place].end, 0,
                     token_is(tokens, place, "[") ? "restrict" : "restrict ");
        begin = i + 1;
    }
    return shares;
}

static char *apply_restrict(const struct tokens *tokens, const struct definition *d,
                            struct arena *arena, const char **refusal)
{
    struct patches patches = {0};
    const bool shares = add_restrict(tokens, d, arena, &patches);
    if (patches.count > 0)
        return edit_apply(tokens->text, &patches, arena);
    *refusal = shares ? "every pointer parameter is restrict already, or shares its buffer with "
                        "another by the task's 'alias'"
                      : "every pointer parameter is restrict already";
    return NULL;
}

char *edit_restrict(const char *text, const struct task *task, struct arena *arena,
                    const char **refusal)
{
    struct tokens tokens;
    struct definition d;
    if (!lex(text, arena, &tokens, refusal) || !source_find_definition(&tokens, task, &d, refusal))
        return NULL;
    return apply_restrict(&tokens, &d, arena, refusal);
}

char *edit_restrict_signature(const char *signature, const struct task *task, struct arena *arena,
                              const char **refusal)
{
    struct tokens tokens;
    if (!lex(signature, arena, &tokens, refusal))
        return NULL;
    if (tokens.count == 0 || !token_is(&tokens, tokens.count - 1, ")")) {
        *refusal = "the parameters of the entry point are not understood";
        return NULL;
    }
    const struct definition d = {
        .task = task, .open = tokens.items[tokens.count - 1].match, .close = tokens.count - 1};
    return apply_restrict(&tokens, &d, arena, refusal);
}

char *edit_flatten(const char *text, const struct task *task, struct arena *arena,
                   const char **refusal)
{
    struct tokens tokens;
    struct definition d;
    if (!lex(text, arena, &tokens, refusal) || !source_find_definition(&tokens, task, &d, refusal))
        return NULL;
    bool calls = false;
    for (size_t i = d.body; i < d.body_close && !calls; i++)
        for (size_t j = 0; j < d.first && !calls; j++)
            calls = token_is_identifier(&tokens, i) && token_is(&tokens, i + 1, "(") &&
                    token_same(&tokens, i, j) && token_is(&tokens, j + 1, "(");
    if (!calls) {
        *refusal = "the entry point calls no other function of the reference";
        return NULL;
    }
    struct patches patches = {0};
    edit_add(&patches, arena, tokens.items[d.first].begin, 0, "__attribute__((flatten)) ");
    return edit_apply(text, &patches, arena);
}

char *edit_vector_math(const char *text, struct arena *arena, const char **refusal)
{
    if (strstr(text, "__FAST_MATH__")) {
        *refusal = "the reference mentions __FAST_MATH__ itself";
        return NULL;
    }
    return arena_printf(arena,
                        "/* Vector functions of glibc's libmvec; their results do not depend on "
                        "fast-math. */\n#ifndef __FAST_MATH__\n#define __FAST_MATH__ 1\n#endif\n%s",
                        text);
}

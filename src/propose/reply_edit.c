/* Edits of the parent's text: each must match exactly once, and none may touch another. */
#include "propose/reply.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct edit {
    size_t offset, length; /* in the parent's text */
    const char *replace;
    size_t number; /* 1, 2, ...: as the reply counts */
};

static int by_offset(const void *a, const void *b)
{
    const struct edit *x = a;
    const struct edit *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Enough of the text to know it by, on one line. */
static const char *quote(const char *text, struct arena *arena)
{
    char *copy = arena_strndup(arena, text, strnlen(text, 60));
    for (char *c = copy; *c; c++)
        *c = *c == '\n' || *c == '\r' || *c == '\t' ? ' ' : *c;
    return copy;
}

static const char *find_once(const char *parent, const char *find, size_t number,
                             struct arena *arena, struct edit *out)
{
    const char *hit = strstr(parent, find);
    if (!hit)
        return arena_printf(arena, "edit %zu does not apply: '%s' is not in the current source",
                            number, quote(find, arena));
    if (strstr(hit + 1, find))
        return arena_printf(arena,
                            "edit %zu does not apply: '%s' is in the current source more than once",
                            number, quote(find, arena));
    out->offset = (size_t)(hit - parent);
    out->length = strlen(find);
    return NULL;
}

static const char *read_edit(const struct json *item, size_t number, const char *parent,
                             struct arena *arena, struct edit *out, bool *is_malformed)
{
    const struct json *find = json_get(item, "find");
    const struct json *replace = json_get(item, "replace");
    *is_malformed = true;
    if (!find || find->type != JSON_STRING || find->string_length == 0 || !replace ||
        replace->type != JSON_STRING || item->count != 2)
        return arena_printf(arena, "edit %zu is not {\"find\": text, \"replace\": text}", number);
    *is_malformed = false;
    out->replace = replace->string;
    out->number = number;
    return find_once(parent, find->string, number, arena, out);
}

const char *reply_apply_edits(const struct json *edits, const char *parent, struct arena *arena,
                              const char **out, bool *is_malformed)
{
    struct edit list[REPLY_MAX_EDITS];
    size_t count = 0;
    *is_malformed = true;
    if (edits->type != JSON_ARRAY || edits->count == 0)
        return "\"edits\" is not an array of edits";
    if (edits->count > REPLY_MAX_EDITS)
        return arena_printf(arena, "\"edits\" has more than %d items", REPLY_MAX_EDITS);
    for (const struct json *item = edits->first; item; item = item->next, count++) {
        const char *problem = read_edit(item, count + 1, parent, arena, &list[count], is_malformed);
        if (problem)
            return problem;
    }
    qsort(list, count, sizeof *list, by_offset);
    CLEANUP(buf_free) struct buf text = {.limit = CANDIDATE_MAX_SOURCE_BYTES};
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].offset < at)
            return arena_printf(arena, "edits %zu and %zu do not apply: they overlap",
                                list[i - 1].number, list[i].number);
        (void)buf_append(&text, parent + at, list[i].offset - at);
        (void)buf_append_str(&text, list[i].replace);
        at = list[i].offset + list[i].length;
    }
    (void)buf_append_str(&text, parent + at);
    if (text.truncated)
        return arena_printf(arena, "the edited source is longer than %d bytes",
                            CANDIDATE_MAX_SOURCE_BYTES);
    *out = arena_strdup(arena, buf_text(&text));
    return NULL;
}

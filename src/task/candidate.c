#include "task/candidate.h"

#include "base/buf.h"
#include "base/err.h"

#include <string.h>

struct hash_id candidate_id(const struct candidate *candidate)
{
    const char *parts[CANDIDATE_MAX_FLAGS + 3] = {"kope-candidate-1", candidate->source,
                                                  candidate->compiler};
    for (size_t i = 0; i < candidate->flag_count; i++)
        parts[3 + i] = candidate->flags[i];
    return hash_strings(parts, 3 + candidate->flag_count);
}

static const char *copy_text(const char *text, struct arena *arena)
{
    return text ? arena_strdup(arena, text) : NULL;
}

struct candidate candidate_copy(const struct candidate *candidate, struct arena *arena)
{
    struct candidate copy = {
        .source = copy_text(candidate->source, arena),
        .compiler = copy_text(candidate->compiler, arena),
        .flag_count = candidate->flag_count,
        .recipe = copy_text(candidate->recipe, arena),
    };
    if (candidate->flag_count > CANDIDATE_MAX_FLAGS)
        BUG("candidate: %zu flags", candidate->flag_count);
    for (size_t i = 0; i < candidate->flag_count; i++)
        copy.flags[i] = copy_text(candidate->flags[i], arena);
    return copy;
}

char *candidate_flags_text(const struct candidate *candidate, struct arena *arena)
{
    struct buf text = {0};
    for (size_t i = 0; i < candidate->flag_count; i++)
        (void)buf_printf(&text, "%s%s", i ? " " : "", candidate->flags[i]);
    char *out = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return out;
}

bool candidate_parse_flags(const char *text, struct arena *arena, struct candidate *out)
{
    static const char blanks[] = " \t\r\n";
    const char *flags[CANDIDATE_MAX_FLAGS] = {0};
    size_t count = 0;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        const size_t length = strcspn(text, blanks);
        if (count == CANDIDATE_MAX_FLAGS)
            return false;
        flags[count++] = arena_strndup(arena, text, length);
        text += length;
    }
    memcpy(out->flags, flags, sizeof flags);
    out->flag_count = count;
    return true;
}

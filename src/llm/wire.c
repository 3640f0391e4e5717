#include "llm/wire.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

enum { MAX_CACHE_MARKS = 4 };

size_t wire_run_end(const struct llm_request *request, size_t begin)
{
    size_t end = begin + 1;
    while (end < request->count &&
           str_equal(request->messages[end].role, request->messages[begin].role))
        end++;
    return end;
}

const char *wire_run_text(const struct llm_request *request, size_t begin, size_t end,
                          struct arena *arena)
{
    size_t length = 0;
    for (size_t i = begin; i < end; i++)
        length += strlen(request->messages[i].text);
    char *text = arena_alloc(arena, length + 1);
    char *to = text;
    for (size_t i = begin; i < end; i++) {
        const size_t part = strlen(request->messages[i].text);
        memcpy(to, request->messages[i].text, part);
        to += part;
    }
    return text;
}

enum llm_cache wire_cache_mark(const struct llm_request *request, size_t index)
{
    size_t later = 0;
    enum llm_cache mark = request->messages[index].cache;
    for (size_t i = index + 1; i < request->count; i++)
        later += request->messages[i].cache != LLM_CACHE_NONE;
    if (later >= MAX_CACHE_MARKS)
        return LLM_CACHE_NONE;
    for (size_t i = 0; i < index && mark == LLM_CACHE_LONG; i++) {
        if (request->messages[i].cache == LLM_CACHE_SHORT)
            mark = LLM_CACHE_SHORT;
    }
    return mark;
}

void wire_put_cache_control(struct json_writer *w, enum llm_cache mark)
{
    if (mark == LLM_CACHE_NONE)
        return;
    json_key(w, "cache_control");
    json_begin_object(w);
    json_put_string(w, "type", "ephemeral");
    if (mark == LLM_CACHE_LONG)
        json_put_string(w, "ttl", "1h");
    json_end_object(w);
}

void wire_put_at(struct json_writer *w, const char *path, const char *text)
{
    char outer[32];
    const char *dot = strchr(path, '.');
    if (!dot) {
        json_put_string(w, path, text);
        return;
    }
    const size_t length = (size_t)(dot - path);
    if (length >= sizeof outer)
        BUG("llm: '%s' is too long for a field", path);
    memcpy(outer, path, length);
    outer[length] = '\0';
    json_key(w, outer);
    json_begin_object(w);
    json_put_string(w, dot + 1, text);
    json_end_object(w);
}

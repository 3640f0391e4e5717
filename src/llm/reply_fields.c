/* What the wires share: fields of a reply, whatever object they stand in. */
#include "llm/reply_reader.h"

#include "base/str.h"
#include "base/tokens.h"
#include "llm/secret.h"

#include <string.h>

enum { SHORT_BYTES = 128 /* of an id, a name, a reason */, PATH_BYTES = 64 };

/* Counts beyond it are nonsense. */
static const int64_t most_tokens = INT64_C(1000000000000);
static const double most_usd = 1e6;

static const char *short_copy(const struct reply_reader *reader, const struct json *value)
{
    const char *text = secret_redact(reader->secret, json_string(value, ""), reader->arena);
    return peer_text_line(text, SHORT_BYTES, reader->arena);
}

/* One path, "a.b", of `length` bytes. */
static const struct json *follow(const struct json *base, const char *path, size_t length)
{
    char name[PATH_BYTES];
    const char *const end = path + length;
    while (base && path < end) {
        const size_t part = strcspn(path, ".|");
        if (part >= sizeof name)
            BUG("llm: '%s' is too long for a path", path);
        memcpy(name, path, part);
        name[part] = '\0';
        base = json_get(base, name);
        path += part + 1;
    }
    return base;
}

const struct json *reply_at(const struct json *base, const char *paths)
{
    while (paths && *paths != '\0') {
        const size_t length = strcspn(paths, "|");
        const struct json *value = follow(base, paths, length);
        if (value && value->type != JSON_NULL)
            return value;
        paths += length + (paths[length] == '|');
    }
    return NULL;
}

bool reply_reader_append(struct reply_reader *reader, struct buf *out, const struct json *content)
{
    if (!content)
        return true;
    bool fits = true;
    if (content->type == JSON_STRING)
        fits = buf_append(out, content->string, content->string_length);
    for (const struct json *part = content->type == JSON_ARRAY ? content->first : NULL;
         part && fits; part = part->next) {
        const struct json *text = json_get(part, "text");
        if (text && text->type == JSON_STRING)
            fits = buf_append(out, text->string, text->string_length);
    }
    return fits ? true : reply_reader_stop(reader, REPLY_TOO_LARGE);
}

void reply_reader_count_reasoning(struct reply_reader *reader, const struct json *text)
{
    if (text && text->type == JSON_STRING)
        reader->reasoning_bound += tokens_bound(text->string, text->string_length);
}

/* One name for what the APIs call differently. */
static const struct {
    const char *word, *name;
} finish_names[] = {
    {"end_turn", "stop"},
    {"stop_sequence", "stop"},
    {"completed", "stop"},
    {"max_tokens", "length"},
    {"max_output_tokens", "length"},
    {"model_context_window_exceeded", "length"},
    {"sensitive", "content_filter"},
    {"tool_use", "tool_calls"},
    {"function_call", "tool_calls"},
    {"error", NULL}, /* NULL: the reply ended in an error of the server's */
    {"network_error", NULL},
    {"insufficient_system_resource", NULL},
};

bool reply_reader_take_finish(struct reply_reader *reader, const struct json *reason)
{
    if (!reason || reason->type != JSON_STRING || reason->string[0] == '\0')
        return true;
    for (size_t i = 0; i < sizeof finish_names / sizeof *finish_names; i++) {
        if (!str_equal(reason->string, finish_names[i].word))
            continue;
        reader->finish_reason = finish_names[i].name;
        if (finish_names[i].name)
            return true;
        reader->error = (struct peer_error){
            .is_set = true, .message = "the reply ended in an error", .type = "", .code = ""};
        return reply_reader_stop(reader, REPLY_PEER_ERROR);
    }
    reader->finish_reason = short_copy(reader, reason);
    return true;
}

void reply_reader_take_names(struct reply_reader *reader, const struct json *object)
{
    if (reader->id[0] == '\0')
        reader->id = short_copy(reader, json_get(object, "id"));
    if (reader->model[0] == '\0')
        reader->model = short_copy(reader, json_get(object, "model"));
}

static void take_count(const struct json *base, const char *paths, int64_t *out)
{
    const int64_t tokens = json_int(reply_at(base, paths), -1);
    if (tokens >= 0 && tokens <= most_tokens)
        *out = tokens;
}

void reply_reader_take_counts(struct reply_reader *reader, const struct json *base)
{
    const struct usage_paths *paths = &reader->dialect->usage;
    struct reply_counts *counts = &reader->counts;
    take_count(base, paths->input, &counts->input);
    take_count(base, paths->cached, &counts->cached);
    take_count(base, paths->cache_write, &counts->cache_write);
    take_count(base, paths->output, &counts->output);
    take_count(base, paths->reasoning, &counts->reasoning);
    const double usd = json_real(reply_at(base, paths->cost), -1.0);
    if (usd >= 0.0 && usd <= most_usd)
        counts->cost_usd = usd;
}

#include "llm/reply_reader.h"

#include "base/str.h"

#include <string.h>

enum {
    MAX_EVENT_LINES = 64,
    SHORT_BYTES = 128,           /* of an id, a name, a reason */
    ERROR_BODY_BYTES = 64 * 1024 /* the rest of an error's body is not read */
};

void reply_reader_init(struct reply_reader *reader, size_t text_limit_bytes, struct arena *arena)
{
    /* A token of text comes in an event of some hundred bytes; JSON escapes may double a body. */
    *reader = (struct reply_reader){
        .arena = arena,
        .wire_limit_bytes = 64 * text_limit_bytes + (size_t)1024 * 1024,
        .body.limit = 2 * text_limit_bytes + ERROR_BODY_BYTES,
        .line.limit = 2 * text_limit_bytes + ERROR_BODY_BYTES,
        .pending.limit = 2 * text_limit_bytes + ERROR_BODY_BYTES,
        .text.limit = text_limit_bytes,
        .refusal.limit = text_limit_bytes,
        .id = "",
        .model = "",
        .usage = {-1, -1, -1, -1, false},
    };
}

void reply_reader_free(struct reply_reader *reader)
{
    buf_free(&reader->body);
    buf_free(&reader->line);
    buf_free(&reader->pending);
    buf_free(&reader->text);
    buf_free(&reader->refusal);
}

static bool stop(struct reply_reader *reader, enum reply_trouble trouble)
{
    reader->trouble = trouble;
    return false;
}

/* Where providers put their counts; the first path that exists gives the field. */
static const struct {
    size_t field;
    const char *outer, *inner; /* inner NULL: `outer` is the number */
} usage_paths[] = {
    {offsetof(struct llm_usage, input_tokens), "prompt_tokens", NULL},
    {offsetof(struct llm_usage, input_tokens), "input_tokens", NULL},
    {offsetof(struct llm_usage, output_tokens), "completion_tokens", NULL},
    {offsetof(struct llm_usage, output_tokens), "output_tokens", NULL},
    {offsetof(struct llm_usage, cached_tokens), "prompt_tokens_details", "cached_tokens"},
    {offsetof(struct llm_usage, cached_tokens), "input_tokens_details", "cached_tokens"},
    {offsetof(struct llm_usage, cached_tokens), "prompt_cache_hit_tokens", NULL},
    {offsetof(struct llm_usage, reasoning_tokens), "completion_tokens_details", "reasoning_tokens"},
    {offsetof(struct llm_usage, reasoning_tokens), "output_tokens_details", "reasoning_tokens"},
};

static void take_usage(struct reply_reader *reader, const struct json *usage)
{
    const int64_t most_tokens = INT64_C(1000000000000);
    struct llm_usage taken = {-1, -1, -1, -1, false};
    if (!usage || usage->type != JSON_OBJECT)
        return;
    for (size_t i = 0; i < sizeof usage_paths / sizeof *usage_paths; i++) {
        int64_t now = -1;
        const struct json *value = json_get(usage, usage_paths[i].outer);
        if (usage_paths[i].inner)
            value = json_get(value, usage_paths[i].inner);
        const int64_t tokens = json_int(value, -1);
        memcpy(&now, (char *)&taken + usage_paths[i].field, sizeof now);
        if (now < 0 && tokens >= 0 && tokens <= most_tokens)
            memcpy((char *)&taken + usage_paths[i].field, &tokens, sizeof tokens);
    }
    reader->usage = taken;
}

/* A string, or the text parts of an array of parts. */
static bool append_content(struct buf *out, const struct json *content)
{
    if (!content)
        return true;
    if (content->type == JSON_STRING)
        return buf_append(out, content->string, content->string_length);
    if (content->type != JSON_ARRAY)
        return true;
    for (const struct json *part = content->first; part; part = part->next) {
        const struct json *text = json_get(part, "text");
        if (text && text->type == JSON_STRING &&
            !buf_append(out, text->string, text->string_length))
            return false;
    }
    return true;
}

static const char *short_copy(struct reply_reader *reader, const struct json *value)
{
    return peer_text_line(json_string(value, ""), SHORT_BYTES, reader->arena);
}

static bool take_choice(struct reply_reader *reader, const struct json *choice)
{
    const struct json *said = json_get(choice, "delta");
    if (!said)
        said = json_get(choice, "message");
    if (json_int(json_get(choice, "index"), 0) != 0)
        return true;
    if (!append_content(&reader->text, json_get(said, "content")) ||
        !append_content(&reader->refusal, json_get(said, "refusal")))
        return stop(reader, REPLY_TOO_LARGE);
    const struct json *finish = json_get(choice, "finish_reason");
    if (!finish || finish->type != JSON_STRING || finish->string[0] == '\0')
        return true;
    if (str_equal(finish->string, "error")) {
        reader->error = (struct peer_error){
            .is_set = true, .message = "the reply ended in an error", .type = "", .code = ""};
        return stop(reader, REPLY_PEER_ERROR);
    }
    reader->finish_reason = short_copy(reader, finish);
    return true;
}

/* One object: a chunk of a stream or the whole reply. */
static bool take_object(struct reply_reader *reader, const struct json *object)
{
    reader->error = peer_error_from_json(object, reader->is_error_event, reader->arena);
    if (reader->error.is_set)
        return stop(reader, REPLY_PEER_ERROR);
    const struct json *choices = json_get(object, "choices");
    for (size_t i = 0; choices && choices->type == JSON_ARRAY && i < choices->count; i++) {
        if (!take_choice(reader, json_at(choices, i)))
            return false;
    }
    if (reader->id[0] == '\0')
        reader->id = short_copy(reader, json_get(object, "id"));
    if (reader->model[0] == '\0')
        reader->model = short_copy(reader, json_get(object, "model"));
    take_usage(reader, json_get(object, "usage"));
    return true;
}

/* Tries what has come of an event; incomplete JSON is kept for the next line. */
static bool try_event(struct reply_reader *reader, bool is_complete)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *object = NULL;
    struct err ignored;
    if (reader->pending.length == 0)
        return true;
    if (str_equal(buf_text(&reader->pending), "[DONE]")) {
        reader->is_done = true;
        buf_clear(&reader->pending);
        return true;
    }
    const bool ok = json_parse(buf_text(&reader->pending), reader->pending.length, "event", &arena,
                               &object, &ignored) &&
                    object->type == JSON_OBJECT;
    if (!ok)
        return is_complete || reader->pending_lines >= MAX_EVENT_LINES
                   ? stop(reader, REPLY_MALFORMED)
                   : true;
    const bool go_on = take_object(reader, object);
    buf_clear(&reader->pending);
    reader->pending_lines = 0;
    return go_on;
}

/* A line of SSE. After [DONE] nothing is looked at any more. */
static bool take_line(struct reply_reader *reader)
{
    const char *line = buf_text(&reader->line);
    if (reader->is_done || line[0] == ':')
        return true;
    if (line[0] == '\0') {
        const bool go_on = try_event(reader, true);
        reader->is_error_event = false;
        return go_on;
    }
    if (str_starts_with(line, "event:")) {
        const char *name = line + strlen("event:");
        reader->is_error_event = str_equal(name + strspn(name, " "), "error");
        return true;
    }
    if (!str_starts_with(line, "data:"))
        return true; /* id, retry, fields that nobody knows */
    const char *data = line + strlen("data:");
    data += *data == ' ';
    if (*data == '\0')
        return true;
    if (reader->pending.length != 0)
        (void)buf_append_char(&reader->pending, '\n');
    reader->pending_lines++;
    if (!buf_append_str(&reader->pending, data))
        return stop(reader, REPLY_TOO_LARGE);
    return try_event(reader, false);
}

static bool feed_sse(struct reply_reader *reader, const char *data, size_t length)
{
    size_t begin = 0;
    for (size_t i = 0; i < length; i++) {
        const bool is_second_half = data[i] == '\n' && reader->after_cr;
        reader->after_cr = data[i] == '\r';
        if (data[i] != '\n' && data[i] != '\r')
            continue;
        if (!buf_append(&reader->line, data + begin, i - begin))
            return stop(reader, REPLY_TOO_LARGE);
        begin = i + 1;
        if (is_second_half)
            continue;
        const bool go_on = take_line(reader);
        buf_clear(&reader->line);
        if (!go_on)
            return false;
    }
    return buf_append(&reader->line, data + begin, length - begin) ? true
                                                                   : stop(reader, REPLY_TOO_LARGE);
}

/* The first byte that is no space tells: a line of SSE never begins with a brace. */
static void tell_form(struct reply_reader *reader, const char **data, size_t *length)
{
    while (*length > 0 && strchr(" \t\r\n\xef\xbb\xbf", **data) && **data != '\0') {
        (*data)++;
        (*length)--;
    }
    if (*length > 0)
        reader->form = **data == '{' ? REPLY_FORM_JSON : REPLY_FORM_SSE;
}

bool reply_reader_feed(void *context, long status, const char *data, size_t length)
{
    struct reply_reader *reader = context;
    if (status < 200 || status > 299) {
        const size_t room = ERROR_BODY_BYTES - reader->body.length;
        (void)buf_append(&reader->body, data, length < room ? length : room);
        return length <= room;
    }
    reader->wire_bytes += length;
    if (reader->wire_bytes > reader->wire_limit_bytes)
        return stop(reader, REPLY_TOO_LARGE);
    if (reader->form == REPLY_FORM_UNKNOWN)
        tell_form(reader, &data, &length);
    if (reader->form == REPLY_FORM_SSE)
        return feed_sse(reader, data, length);
    return buf_append(&reader->body, data, length) ? true : stop(reader, REPLY_TOO_LARGE);
}

static void finish_json(struct reply_reader *reader)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *object = NULL;
    struct err ignored;
    if (!json_parse(buf_text(&reader->body), reader->body.length, "reply", &arena, &object,
                    &ignored)) {
        reader->trouble = REPLY_MALFORMED;
        return;
    }
    if (!take_object(reader, object))
        return;
    const struct json *choices = json_get(object, "choices");
    if (!choices || choices->type != JSON_ARRAY || choices->count == 0)
        reader->trouble = REPLY_MALFORMED;
    else
        reader->is_done = true;
}

void reply_reader_finish(struct reply_reader *reader)
{
    /* What comes after the end, or half a line of it, changes nothing. */
    if (reader->trouble != REPLY_NO_TROUBLE || reader->is_done)
        return;
    if (reader->form == REPLY_FORM_JSON) {
        finish_json(reader);
    } else if (reader->form == REPLY_FORM_SSE) {
        if (take_line(reader))
            (void)try_event(reader, true);
        buf_clear(&reader->line);
        if (reader->trouble == REPLY_MALFORMED && reader->finish_reason)
            reader->trouble = REPLY_NO_TROUBLE; /* broke off after the end, within the usage */
    }
}

bool reply_reader_is_whole(const struct reply_reader *reader)
{
    return reader->trouble == REPLY_NO_TROUBLE && (reader->is_done || reader->finish_reason);
}

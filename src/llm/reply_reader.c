#include "llm/reply_reader.h"

#include "base/str.h"
#include "llm/wire.h"

#include <string.h>

enum {
    MAX_EVENT_LINES = 64,
    ERROR_BODY_BYTES = 64 * 1024 /* the rest of an error's body is not read */
};

void reply_reader_init(struct reply_reader *reader, const struct dialect *dialect,
                       size_t text_limit_bytes, struct arena *arena)
{
    /* A token of text comes in an event of some hundred bytes; JSON escapes may double a body. */
    *reader = (struct reply_reader){
        .dialect = dialect,
        .arena = arena,
        .wire_limit_bytes = 64 * text_limit_bytes + (size_t)1024 * 1024,
        .body.limit = 2 * text_limit_bytes + ERROR_BODY_BYTES,
        .line.limit = 2 * text_limit_bytes + ERROR_BODY_BYTES,
        .pending.limit = 2 * text_limit_bytes + ERROR_BODY_BYTES,
        .text.limit = text_limit_bytes,
        .refusal.limit = text_limit_bytes,
        .id = "",
        .model = "",
        .counts = {-1, -1, -1, -1, -1, -1.0},
        .thinking.limit = text_limit_bytes,
        .thought.limit = text_limit_bytes,
        .signature.limit = text_limit_bytes,
    };
}

void reply_reader_free(struct reply_reader *reader)
{
    buf_free(&reader->body);
    buf_free(&reader->line);
    buf_free(&reader->pending);
    buf_free(&reader->text);
    buf_free(&reader->refusal);
    buf_free(&reader->thinking);
    buf_free(&reader->thought);
    buf_free(&reader->signature);
}

bool reply_reader_stop(struct reply_reader *reader, enum reply_trouble trouble)
{
    reader->trouble = trouble;
    return false;
}

/* One object: an event of a stream or the whole reply. */
static bool take_object(struct reply_reader *reader, const struct json *object)
{
    const bool is_error =
        reader->is_error_event || str_equal(json_string(json_get(object, "type"), ""), "error");
    reader->error = peer_error_from_json(object, is_error, reader->arena);
    if (reader->error.is_set)
        return reply_reader_stop(reader, REPLY_PEER_ERROR);
    if (!reader->dialect->wire->take(reader, object))
        return false;
    reader->is_enough = reader->is_done || (reader->finish_reason && reader->counts.output >= 0);
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
                   ? reply_reader_stop(reader, REPLY_MALFORMED)
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
        return reply_reader_stop(reader, REPLY_TOO_LARGE);
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
            return reply_reader_stop(reader, REPLY_TOO_LARGE);
        begin = i + 1;
        if (is_second_half)
            continue;
        const bool go_on = take_line(reader);
        buf_clear(&reader->line);
        if (!go_on)
            return false;
    }
    return buf_append(&reader->line, data + begin, length - begin)
               ? true
               : reply_reader_stop(reader, REPLY_TOO_LARGE);
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
        return reply_reader_stop(reader, REPLY_TOO_LARGE);
    if (reader->form == REPLY_FORM_UNKNOWN && !reader->is_verbatim)
        tell_form(reader, &data, &length);
    if (reader->form == REPLY_FORM_SSE)
        return feed_sse(reader, data, length);
    return buf_append(&reader->body, data, length) ? true
                                                   : reply_reader_stop(reader, REPLY_TOO_LARGE);
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
    /* A whole object that is a reply has told the reader that it is done, or how it ended. */
    if (take_object(reader, object) && !reply_reader_is_whole(reader))
        reader->trouble = REPLY_MALFORMED;
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

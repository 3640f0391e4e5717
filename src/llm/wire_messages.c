/* Anthropic's Messages, version 2023-06-01. */
#include "llm/wire.h"

#include "base/str.h"

#include <string.h>

enum { LEAST_THINKING_TOKENS = 1024 /* of a budget of thinking, by the API */ };

static void write_block(const struct wire_setting *s, struct json_writer *w, size_t index)
{
    const struct llm_message *message = &s->request->messages[index];
    if (message->text[0] == '\0')
        return; /* an empty block is refused */
    json_begin_object(w);
    json_put_string(w, "type", "text");
    json_put_string(w, "text", message->text);
    wire_put_cache_control(w, wire_cache_mark(s->request, index));
    json_end_object(w);
}

/* Blocks of thinking go back as they came; what is no array of them is left out. */
static void write_thinking(const struct wire_setting *s, struct json_writer *w, const char *text)
{
    const struct json *blocks = NULL;
    struct err ignored;
    if (!text || !json_parse(text, strlen(text), "thinking", s->arena, &blocks, &ignored) ||
        blocks->type != JSON_ARRAY)
        return;
    for (const struct json *block = blocks->first; block; block = block->next)
        json_write_value(w, block);
}

static void write_system(const struct wire_setting *s, struct json_writer *w)
{
    bool begun = false;
    for (size_t i = 0; i < s->request->count; i++) {
        if (!str_equal(s->request->messages[i].role, "system"))
            continue;
        if (!begun) {
            json_key(w, "system");
            json_begin_array(w);
        }
        begun = true;
        write_block(s, w, i);
    }
    if (begun)
        json_end_array(w);
}

static void write_messages(const struct wire_setting *s, struct json_writer *w)
{
    json_key(w, "messages");
    json_begin_array(w);
    for (size_t begin = 0; begin < s->request->count;) {
        const size_t end = wire_run_end(s->request, begin);
        const struct llm_message *messages = s->request->messages;
        if (!str_equal(messages[begin].role, "system")) {
            json_begin_object(w);
            json_put_string(w, "role", messages[begin].role);
            json_key(w, "content");
            json_begin_array(w);
            for (size_t i = begin; i < end; i++) {
                write_thinking(s, w, messages[i].thinking_json);
                write_block(s, w, i);
            }
            json_end_array(w);
            json_end_object(w);
        }
        begin = end;
    }
    json_end_array(w);
}

static void write_output_config(const struct wire_setting *s, struct json_writer *w)
{
    const bool has_format = s->schema && s->features->schema == SCHEMA_JSON_SCHEMA;
    const bool has_effort = s->opts->effort && !s->is_count;
    if (!has_format && !has_effort)
        return;
    json_key(w, "output_config");
    json_begin_object(w);
    if (has_effort)
        json_put_string(w, "effort", s->opts->effort);
    if (has_format) {
        json_key(w, "format");
        json_begin_object(w);
        json_put_string(w, "type", "json_schema");
        json_key(w, "schema");
        json_write_value(w, s->schema);
        json_end_object(w);
    }
    json_end_object(w);
}

/* The budget is part of the cap on the reply; where that was lowered, at most half of it. */
static void put_thinking_budget(const struct wire_setting *s, struct json_writer *w)
{
    int64_t tokens = s->opts->thinking_tokens;
    if (tokens >= s->max_output_tokens)
        tokens = s->max_output_tokens / 2;
    if (tokens < LEAST_THINKING_TOKENS)
        return;
    json_key(w, "thinking");
    json_begin_object(w);
    json_put_string(w, "type", "enabled");
    json_put_int(w, "budget_tokens", tokens);
    json_end_object(w);
}

static void write_request(const struct wire_setting *s, struct json_writer *w)
{
    json_put_string(w, "model", s->opts->model);
    write_system(s, w);
    write_messages(s, w);
    write_output_config(s, w);
    put_thinking_budget(s, w);
    if (s->is_count)
        return;
    json_put_int(w, "max_tokens", s->max_output_tokens);
    if (s->opts->has_temperature)
        json_put_real(w, "temperature", s->opts->temperature);
    json_put_bool(w, "stream", true);
}

static void add_thinking(struct reply_reader *reader, const struct buf *block)
{
    if (reader->thinking.length != 0)
        (void)buf_append_char(&reader->thinking, ',');
    (void)buf_append(&reader->thinking, block->data, block->length);
}

static void end_thought(struct reply_reader *reader)
{
    CLEANUP(buf_free) struct buf block = {.limit = reader->thinking.limit};
    struct json_writer w = {.out = &block};
    if (!reader->in_thought)
        return;
    reader->in_thought = false;
    json_begin_object(&w);
    json_put_string(&w, "type", "thinking");
    json_put_string(&w, "thinking", buf_text(&reader->thought));
    json_put_string(&w, "signature", buf_text(&reader->signature));
    json_end_object(&w);
    add_thinking(reader, &block);
    buf_clear(&reader->thought);
    buf_clear(&reader->signature);
}

/* A block as it begins in a stream, or whole. */
static bool take_block(struct reply_reader *reader, const struct json *block)
{
    const char *type = json_string(json_get(block, "type"), "");
    end_thought(reader);
    if (str_equal(type, "text"))
        return reply_reader_append(reader, &reader->text, json_get(block, "text"));
    if (str_equal(type, "redacted_thinking")) {
        CLEANUP(buf_free) struct buf text = {.limit = reader->thinking.limit};
        struct json_writer w = {.out = &text};
        json_write_value(&w, block);
        add_thinking(reader, &text);
    }
    if (str_equal(type, "thinking")) {
        reader->in_thought = true;
        reply_reader_count_reasoning(reader, json_get(block, "thinking"));
        return reply_reader_append(reader, &reader->thought, json_get(block, "thinking")) &&
               reply_reader_append(reader, &reader->signature, json_get(block, "signature"));
    }
    return true;
}

static bool take_delta(struct reply_reader *reader, const struct json *delta)
{
    reply_reader_count_reasoning(reader, json_get(delta, "thinking"));
    return reply_reader_append(reader, &reader->text, json_get(delta, "text")) &&
           reply_reader_append(reader, &reader->thought, json_get(delta, "thinking")) &&
           reply_reader_append(reader, &reader->signature, json_get(delta, "signature"));
}

/* The whole message, not streamed. */
static bool take_message(struct reply_reader *reader, const struct json *message)
{
    const struct json *content = json_get(message, "content");
    if (!content || content->type != JSON_ARRAY)
        return reply_reader_stop(reader, REPLY_MALFORMED);
    for (const struct json *block = content->first; block; block = block->next) {
        if (!take_block(reader, block))
            return false;
    }
    end_thought(reader);
    reply_reader_take_names(reader, message);
    reply_reader_take_counts(reader, message);
    reader->is_done = true;
    return reply_reader_take_finish(reader, json_get(message, "stop_reason"));
}

static bool take(struct reply_reader *reader, const struct json *object)
{
    const char *type = json_string(json_get(object, "type"), "");
    if (reader->form == REPLY_FORM_JSON)
        return take_message(reader, object);
    if (str_equal(type, "message_start")) {
        reply_reader_take_names(reader, json_get(object, "message"));
        reply_reader_take_counts(reader, json_get(object, "message"));
    } else if (str_equal(type, "content_block_start")) {
        return take_block(reader, json_get(object, "content_block"));
    } else if (str_equal(type, "content_block_delta")) {
        return take_delta(reader, json_get(object, "delta"));
    } else if (str_equal(type, "content_block_stop")) {
        end_thought(reader);
    } else if (str_equal(type, "message_delta")) {
        reply_reader_take_counts(reader, object); /* cumulative */
        return reply_reader_take_finish(reader, reply_at(object, "delta.stop_reason"));
    } else if (str_equal(type, "message_stop")) {
        reader->is_done = true;
    }
    return true; /* ping, and whatever comes to be */
}

const struct wire wire_messages = {
    .name = "anthropic",
    .path = "/v1/messages",
    .write_request = write_request,
    .take = take,
};

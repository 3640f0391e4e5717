/* OpenAI's Responses. Nothing is stored at the server. */
#include "llm/wire.h"

#include "base/str.h"

static void write_input(const struct wire_setting *s, struct json_writer *w)
{
    size_t begin = 0;
    if (s->request->count > 0 && str_equal(s->request->messages[0].role, "system")) {
        begin = wire_run_end(s->request, 0);
        json_put_string(w, "instructions", wire_run_text(s->request, 0, begin, s->arena));
    }
    json_key(w, "input");
    json_begin_array(w);
    while (begin < s->request->count) {
        const size_t end = wire_run_end(s->request, begin);
        json_begin_object(w);
        json_put_string(w, "role", s->request->messages[begin].role);
        json_put_string(w, "content", wire_run_text(s->request, begin, end, s->arena));
        json_end_object(w);
        begin = end;
    }
    json_end_array(w);
}

static void write_format(const struct wire_setting *s, struct json_writer *w)
{
    if (!s->schema || s->features->schema == SCHEMA_NONE)
        return;
    json_key(w, "text");
    json_begin_object(w);
    json_key(w, "format");
    json_begin_object(w);
    if (s->features->schema == SCHEMA_JSON_OBJECT) {
        json_put_string(w, "type", "json_object");
    } else {
        json_put_string(w, "type", "json_schema");
        json_put_string(w, "name", s->request->schema_name);
        json_key(w, "schema");
        json_write_value(w, s->schema);
        json_put_bool(w, "strict", true);
    }
    json_end_object(w);
    json_end_object(w);
}

static void write_request(const struct wire_setting *s, struct json_writer *w)
{
    json_put_string(w, "model", s->opts->model);
    write_input(s, w);
    write_format(s, w);
    if (s->is_count)
        return;
    json_put_int(w, "max_output_tokens", s->max_output_tokens);
    if (s->opts->has_temperature)
        json_put_real(w, "temperature", s->opts->temperature);
    if (s->opts->effort)
        wire_put_at(w, "reasoning.effort", s->opts->effort);
    json_put_bool(w, "store", false);
    json_put_bool(w, "stream", true);
}

/* The text of all parts of `type` in the output's messages. */
static bool append_output(struct reply_reader *reader, struct buf *out, const struct json *response,
                          const char *type, const char *member)
{
    const struct json *output = json_get(response, "output");
    for (const struct json *item = output ? output->first : NULL; item; item = item->next) {
        const struct json *content = json_get(item, "content");
        for (const struct json *part = content ? content->first : NULL; part; part = part->next) {
            if (str_equal(json_string(json_get(part, "type"), ""), type) &&
                !reply_reader_append(reader, out, json_get(part, member)))
                return false;
        }
    }
    return true;
}

/* What the final object says counts: the deltas before it said the same, or less. */
static bool take_output(struct reply_reader *reader, const struct json *response)
{
    CLEANUP(buf_free) struct buf text = {.limit = reader->text.limit};
    CLEANUP(buf_free) struct buf refusal = {.limit = reader->refusal.limit};
    if (!append_output(reader, &text, response, "output_text", "text") ||
        !append_output(reader, &refusal, response, "refusal", "refusal"))
        return false;
    if (text.length != 0) {
        buf_clear(&reader->text);
        (void)buf_append(&reader->text, text.data, text.length);
    }
    if (refusal.length != 0) {
        buf_clear(&reader->refusal);
        (void)buf_append(&reader->refusal, refusal.data, refusal.length);
    }
    return true;
}

static bool take_failure(struct reply_reader *reader, const struct json *response)
{
    reader->error = peer_error_from_json(response, true, reader->arena);
    return reply_reader_stop(reader, REPLY_PEER_ERROR);
}

/* The response as a whole, at the end of a stream or as the only object. */
static bool take_response(struct reply_reader *reader, const struct json *response)
{
    const char *status = json_string(json_get(response, "status"), "");
    reply_reader_take_names(reader, response);
    reply_reader_take_counts(reader, response);
    if (str_equal(status, "failed") || str_equal(status, "cancelled"))
        return take_failure(reader, response);
    const bool is_incomplete = str_equal(status, "incomplete");
    if (!is_incomplete && !str_equal(status, "completed"))
        return reply_reader_stop(reader, REPLY_MALFORMED);
    if (!take_output(reader, response))
        return false;
    reader->is_done = true;
    return reply_reader_take_finish(reader, is_incomplete
                                                ? reply_at(response, "incomplete_details.reason")
                                                : json_get(response, "status"));
}

static bool take(struct reply_reader *reader, const struct json *object)
{
    const char *type = json_string(json_get(object, "type"), "");
    const struct json *response = json_get(object, "response");
    if (reader->form == REPLY_FORM_JSON)
        return take_response(reader, object);
    if (str_equal(type, "response.output_text.delta"))
        return reply_reader_append(reader, &reader->text, json_get(object, "delta"));
    if (str_equal(type, "response.refusal.delta"))
        return reply_reader_append(reader, &reader->refusal, json_get(object, "delta"));
    if (str_starts_with(type, "response.reasoning") && str_ends_with(type, ".delta"))
        reply_reader_count_reasoning(reader, json_get(object, "delta"));
    if (str_equal(type, "response.completed") || str_equal(type, "response.incomplete") ||
        str_equal(type, "response.failed"))
        return take_response(reader, response);
    if (response)
        reply_reader_take_names(reader, response);
    return true; /* many events tell nothing that is needed */
}

const struct wire wire_responses = {
    .name = "openai-responses",
    .path = "/responses",
    .write_request = write_request,
    .take = take,
};

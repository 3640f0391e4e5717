/* OpenAI's chat completions, which most servers speak. */
#include "llm/wire.h"

#include "base/str.h"

/* Parts with marks, for servers that are told where a prefix ends. */
static void write_parts(const struct wire_setting *s, struct json_writer *w, size_t begin,
                        size_t end)
{
    json_key(w, "content");
    json_begin_array(w);
    for (size_t i = begin; i < end; i++) {
        if (s->request->messages[i].text[0] == '\0')
            continue;
        json_begin_object(w);
        json_put_string(w, "type", "text");
        json_put_string(w, "text", s->request->messages[i].text);
        wire_put_cache_control(w, wire_cache_mark(s->request, i));
        json_end_object(w);
    }
    json_end_array(w);
}

static bool has_mark(const struct wire_setting *s, size_t begin, size_t end)
{
    bool marked = false;
    for (size_t i = begin; i < end; i++)
        marked = marked || (s->request->messages[i].cache != LLM_CACHE_NONE &&
                            s->request->messages[i].text[0] != '\0');
    return marked && s->dialect->takes_cache_control;
}

static void write_messages(const struct wire_setting *s, struct json_writer *w)
{
    json_key(w, "messages");
    json_begin_array(w);
    for (size_t begin = 0; begin < s->request->count;) {
        const size_t end = wire_run_end(s->request, begin);
        json_begin_object(w);
        json_put_string(w, "role", s->request->messages[begin].role);
        if (has_mark(s, begin, end))
            write_parts(s, w, begin, end);
        else
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
    json_key(w, "response_format");
    json_begin_object(w);
    if (s->features->schema == SCHEMA_JSON_OBJECT) {
        json_put_string(w, "type", "json_object");
    } else {
        json_put_string(w, "type", "json_schema");
        json_key(w, "json_schema");
        json_begin_object(w);
        json_put_string(w, "name", s->request->schema_name);
        json_key(w, "schema");
        json_write_value(w, s->schema);
        json_put_bool(w, "strict", true);
        json_end_object(w);
    }
    json_end_object(w);
}

static void write_request(const struct wire_setting *s, struct json_writer *w)
{
    json_put_string(w, "model", s->opts->model);
    write_messages(s, w);
    write_format(s, w);
    if (s->is_count)
        return;
    json_put_int(w, s->features->max_tokens_field, s->max_output_tokens);
    if (s->opts->has_temperature)
        json_put_real(w, "temperature", s->opts->temperature);
    if (s->opts->effort)
        wire_put_at(w, s->dialect->effort_path, s->opts->effort);
    json_put_bool(w, "stream", true);
    if (s->features->usage_option) {
        json_key(w, "stream_options");
        json_begin_object(w);
        json_put_bool(w, "include_usage", true);
        json_end_object(w);
    }
}

static bool take_choice(struct reply_reader *reader, const struct json *choice)
{
    const struct json *said = json_get(choice, "delta");
    if (!said)
        said = json_get(choice, "message");
    if (json_int(json_get(choice, "index"), 0) != 0)
        return true;
    reply_reader_count_reasoning(reader, reply_at(said, reader->dialect->reasoning_field));
    return reply_reader_append(reader, &reader->text, json_get(said, "content")) &&
           reply_reader_append(reader, &reader->refusal, json_get(said, "refusal")) &&
           reply_reader_take_finish(reader, json_get(choice, "finish_reason"));
}

static bool take(struct reply_reader *reader, const struct json *object)
{
    const struct json *choices = json_get(object, "choices");
    const size_t count = choices && choices->type == JSON_ARRAY ? choices->count : 0;
    for (size_t i = 0; i < count; i++) {
        if (!take_choice(reader, json_at(choices, i)))
            return false;
    }
    reply_reader_take_names(reader, object);
    reply_reader_take_counts(reader, object);
    /* A plain object is the whole reply, even where it does not say how it ended. */
    if (reader->form == REPLY_FORM_JSON && count != 0)
        reader->is_done = true;
    return true;
}

const struct wire wire_chat = {
    .name = "openai-chat",
    .path = "/chat/completions",
    .write_request = write_request,
    .take = take,
};

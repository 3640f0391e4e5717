/*
 * An API over HTTP: how a request is written and what came back is read. One constant each, in
 * wire_chat.c, wire_responses.c and wire_messages.c; keys, retries, errors and budgets are
 * exchange.c's, bytes and events reply_reader.c's.
 */
#ifndef KOPE_LLM_WIRE_H
#define KOPE_LLM_WIRE_H

#include "llm/dialect.h"
#include "llm/llm.h"
#include "llm/reply_reader.h"
#include "json/json.h"

/* What a server was found to take, at first as its dialect says. */
struct wire_features {
    const char *max_tokens_field;
    bool is_field_fixed; /* the user named it, or it was changed once */
    bool usage_option;
    enum schema_form schema;
};

/* What a request is made of. */
struct wire_setting {
    const struct llm_opts *opts;
    const struct dialect *dialect;
    const struct wire_features *features;
    const struct llm_request *request; /* without the key */
    const struct json *schema;         /* parsed; NULL: none */
    int64_t max_output_tokens;
    bool is_count; /* only what counts as input */
    struct arena *arena;
};

struct wire {
    const char *name; /* "openai-chat" */
    const char *path; /* after the base URL */
    /* Members of the request; the object is begun and ended by the caller. */
    void (*write_request)(const struct wire_setting *setting, struct json_writer *w);
    /* An event of a stream, or the whole reply. False where there is no need to read on; the reader
     * says why. */
    bool (*take)(struct reply_reader *reader, const struct json *object);
};

extern const struct wire wire_chat, wire_responses, wire_messages;

/* The end of the run of messages with the role of message `begin`. */
size_t wire_run_end(const struct llm_request *request, size_t begin);
/* The texts of messages `begin` to `end`, joined. */
const char *wire_run_text(const struct llm_request *request, size_t begin, size_t end,
                          struct arena *arena);

/* The mark that message `index` gets: of more than four the last four, and none for long after one
 * for short. */
enum llm_cache wire_cache_mark(const struct llm_request *request, size_t index);
/* The member "cache_control". */
void wire_put_cache_control(struct json_writer *w, enum llm_cache mark);

/* "a" or "a.b": a member, or a member of a member object. */
void wire_put_at(struct json_writer *w, const char *path, const char *text);

#endif

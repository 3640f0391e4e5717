/*
 * Reads the body of a reply piece by piece, whether it is streamed (SSE) or one JSON object from a
 * server that ignores `stream`. What an object means is the wire's business.
 *
 * SSE as servers really send it: comments, blank lines, CRLF or CR, no space after "data:", no
 * blank line between events, a missing [DONE], an error object in mid-stream.
 */
#ifndef KOPE_LLM_REPLY_READER_H
#define KOPE_LLM_REPLY_READER_H

#include "base/arena.h"
#include "base/buf.h"
#include "llm/dialect.h"
#include "llm/peer_error.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reply_form { REPLY_FORM_UNKNOWN, REPLY_FORM_SSE, REPLY_FORM_JSON };

enum reply_trouble {
    REPLY_NO_TROUBLE,
    REPLY_TOO_LARGE,
    REPLY_MALFORMED, /* no JSON where JSON has to be, or JSON that is no reply */
    REPLY_PEER_ERROR /* `error` says which */
};

/* As the peer told it; -1 where it did not. */
struct reply_counts {
    int64_t input, cached, cache_write, output, reasoning;
    double cost_usd;
};

struct reply_reader {
    const struct dialect *dialect;
    const char *secret;  /* is taken out before a text is shortened; NULL */
    struct arena *arena; /* for short strings; set by reply_reader_init, as the limits are */
    size_t wire_bytes, wire_limit_bytes;
    bool is_verbatim; /* no reply of a model: the body is kept as it comes */
    enum reply_form form;
    struct buf body;    /* plain JSON, or the body of an error status */
    struct buf line;    /* of SSE, not yet ended */
    struct buf pending; /* data of an event whose JSON is not complete yet */
    int pending_lines;
    bool after_cr, is_error_event;

    enum reply_trouble trouble;
    struct peer_error error;
    struct buf text, refusal;
    const char *finish_reason; /* canonical; NULL until the peer has named one */
    const char *id, *model;
    struct reply_counts counts;
    int64_t reasoning_bound; /* tokens of reasoning text that came beside the text */
    bool is_done;            /* the end that the API defines, or the plain object was read */
    bool is_enough;          /* nothing that matters can come any more */

    /* Anthropic's thinking: blocks that are whole, as items of a JSON array, and the current one */
    struct buf thinking, thought, signature;
    bool in_thought;
};

void reply_reader_init(struct reply_reader *reader, const struct dialect *dialect,
                       size_t text_limit_bytes, struct arena *arena);
void reply_reader_free(struct reply_reader *reader);

/* As http's on_data wants it: false where there is no need to read on. */
bool reply_reader_feed(void *reader, long status, const char *data, size_t length);
/* The transfer is over: takes what is left without a line end. */
void reply_reader_finish(struct reply_reader *reader);

/* Everything that was said has arrived. */
bool reply_reader_is_whole(const struct reply_reader *reader);

/* For the wires: what an object says. Those that return false have set the trouble. */

/* Stops with a trouble; returns false. */
bool reply_reader_stop(struct reply_reader *reader, enum reply_trouble trouble);
/* Appends a string, or the "text" of each part in an array of parts, to `out`. */
bool reply_reader_append(struct reply_reader *reader, struct buf *out, const struct json *content);
/* Reasoning that came as text: only its size is kept. */
void reply_reader_count_reasoning(struct reply_reader *reader, const struct json *text);
/* A reason to stop in the API's word; a reason that is an error stops. NULL and null: none yet. */
bool reply_reader_take_finish(struct reply_reader *reader, const struct json *reason);
/* "id" and "model" of an object, where they are not known yet. */
void reply_reader_take_names(struct reply_reader *reader, const struct json *object);
/* The counts that the dialect's paths find from `base` on; those that are absent stay. */
void reply_reader_take_counts(struct reply_reader *reader, const struct json *base);

/* The value at the first path that exists: "a.b|c". NULL where none does. */
const struct json *reply_at(const struct json *base, const char *paths);

#endif

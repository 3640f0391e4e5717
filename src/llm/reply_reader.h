/*
 * Reads the body of a chat completion piece by piece, whether it is streamed (SSE) or one JSON
 * object from a server that ignores `stream`.
 *
 * SSE as servers really send it: comments, blank lines, CRLF or CR, no space after "data:", no
 * blank line between events, a missing [DONE], an error object in mid-stream.
 */
#ifndef KOPE_LLM_REPLY_READER_H
#define KOPE_LLM_REPLY_READER_H

#include "base/arena.h"
#include "base/buf.h"
#include "llm/llm.h"
#include "llm/peer_error.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum reply_form { REPLY_FORM_UNKNOWN, REPLY_FORM_SSE, REPLY_FORM_JSON };

enum reply_trouble {
    REPLY_NO_TROUBLE,
    REPLY_TOO_LARGE,
    REPLY_MALFORMED, /* no JSON where JSON has to be */
    REPLY_PEER_ERROR /* `error` says which */
};

struct reply_reader {
    struct arena *arena; /* for short strings; set by reply_reader_init, as the limits are */
    size_t wire_bytes, wire_limit_bytes;
    enum reply_form form;
    struct buf body;    /* plain JSON, or the body of an error status */
    struct buf line;    /* of SSE, not yet ended */
    struct buf pending; /* data of an event whose JSON is not complete yet */
    int pending_lines;
    bool after_cr, is_error_event;

    enum reply_trouble trouble;
    struct peer_error error;
    struct buf text, refusal;
    const char *finish_reason; /* NULL until the peer has named one */
    const char *id, *model;
    struct llm_usage usage; /* -1 in a field that the peer has not told */
    bool is_done;           /* [DONE], or the plain object was read */
};

void reply_reader_init(struct reply_reader *reader, size_t text_limit_bytes, struct arena *arena);
void reply_reader_free(struct reply_reader *reader);

/* As http's on_data wants it: false where there is no need to read on. */
bool reply_reader_feed(void *reader, long status, const char *data, size_t length);
/* The transfer is over: takes what is left without a line end. */
void reply_reader_finish(struct reply_reader *reader);

/* Everything that was said has arrived. */
bool reply_reader_is_whole(const struct reply_reader *reader);

#endif

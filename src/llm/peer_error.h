/*
 * What a peer says went wrong: {"error":{"message","type","param","code"}} and its relatives, with
 * an error status or, from gateways, after HTTP 200 in the body or in the middle of a stream.
 */
#ifndef KOPE_LLM_PEER_ERROR_H
#define KOPE_LLM_PEER_ERROR_H

#include "base/arena.h"
#include "base/err.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>

struct peer_error {
    bool is_set;
    long status; /* HTTP's, or the number in the error object; 0 where neither is known */
    const char *message, *type, *code;     /* "" where absent; in the arena of whoever read it */
    int64_t prompt_tokens, context_tokens; /* of an overflow, from fields or words; 0 unknown */
};

/* From an object that is an error, or holds one as "error" (object or string), "message" or
 * "detail". Not set where `value` has none. */
struct peer_error peer_error_from_json(const struct json *value, bool is_error_event,
                                       struct arena *arena);

/* From the body of a reply with an error status, JSON or not. */
struct peer_error peer_error_from_body(long status, const char *body, size_t length,
                                       struct arena *arena);

/* What follows from it. */
enum peer_fault {
    PEER_FAULT_TRANSIENT, /* another try may succeed */
    PEER_FAULT_OVERFLOW,  /* the context is too long: ERR_LIMIT */
    PEER_FAULT_QUOTA,     /* no money left: ERR_BUDGET */
    PEER_FAULT_KEY,       /* no key, or one that is not accepted */
    PEER_FAULT_REQUEST,   /* anything else that will not change by trying again */
};

/* `should_retry` is the peer's own word: 1, 0 or -1. */
enum peer_fault peer_error_classify(const struct peer_error *error, int should_retry);

/* Text from outside on one line: control bytes become spaces, and it ends after `limit` bytes. */
const char *peer_text_line(const char *text, size_t limit, struct arena *arena);

#endif

/*
 * Model drivers: one exchange with a model. Drivers: "openai" (chat completions over HTTP, which
 * most servers speak) and "replay" (answers from a file, without a network).
 *
 * The key is known by the *name* of its environment variable only; its value is read at the moment
 * of the call, goes into one header, and is never in a log, an error, an argument list or a
 * recorded exchange: where a peer echoes it, it is replaced. Replies are capped. A reply that fails
 * by the peer's fault is retried as docs/models.md says (408, 409, 429, 5xx; Retry-After;
 * exponential wait with jitter), within the deadline. Threads: a model belongs to one thread.
 */
#ifndef KOPE_LLM_LLM_H
#define KOPE_LLM_LLM_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llm; /* opaque */

/* Strings are copied. */
struct llm_opts {
    const char *driver;           /* "openai" (default) or "replay" */
    const char *base_url;         /* NULL: $OPENAI_BASE_URL, else https://api.openai.com/v1;
                                     replay: path of the file */
    const char *key_variable;     /* name of the variable that holds the key; NULL: the provider's
                                     own (OPENAI_API_KEY unless docs/models.md says otherwise); unset
                                     is fine for a local server */
    const char *model;            /* required */
    const char *max_tokens_field; /* "max_completion_tokens" or "max_tokens"; NULL: as the provider
                                     wants it */
    int64_t max_output_tokens;    /* 0: 8192 */
    int64_t deadline_ns;          /* of one exchange with all its retries; 0: 120 s */
    size_t reply_limit_bytes;     /* of a reply's text; 0: 4 MiB */
    int retries;                  /* 0: 4; -1: none */
};

/* ERR_UNSUPPORTED names the drivers that exist; ERR_BAD_INPUT for a model or URL that is none. No
 * network yet. */
bool llm_open(const struct llm_opts *opts, struct llm **out, struct err *err);
void llm_close(struct llm **llm);

struct llm_message {
    const char *role; /* "system", "user", "assistant" */
    const char *text;
};

struct llm_usage {
    int64_t input_tokens; /* cached ones included */
    int64_t cached_tokens;
    int64_t output_tokens; /* reasoning included */
    int64_t reasoning_tokens;
    bool is_estimate; /* the peer did not tell: tokens_bound of what was sent and received */
};

struct llm_reply {
    const char *text;
    const char *finish_reason; /* "stop", "length", "content_filter", "refusal", ...; "" unknown */
    struct llm_usage usage;
    int64_t lost_tokens; /* at most this many went into attempts that broke off in the middle of an
                            answer and were repeated */
    const char *request_json, *reply_json; /* the exchange, without the key, for the journal */
    int attempts;
    int64_t wall_ns;
};

/* One exchange. ERR_NETWORK, ERR_BUDGET (402, insufficient_quota), ERR_LIMIT (context too long or
 * reply over the cap), ERR_INTERRUPTED; ERR_BAD_INPUT where the key cannot stand in a header. */
bool llm_chat(struct llm *llm, const struct llm_message *messages, size_t count,
              struct arena *arena, struct llm_reply *out, struct err *err);

/* Most tokens that the messages cost as input, and the most that a reply may have. */
int64_t llm_bound_input_tokens(const struct llm_message *messages, size_t count);
int64_t llm_max_output_tokens(const struct llm *llm);

#endif

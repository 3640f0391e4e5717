/* Inside exchange*.c: one exchange over HTTP, and what is told of its attempts. */
#ifndef KOPE_LLM_EXCHANGE_H
#define KOPE_LLM_EXCHANGE_H

#include "base/rng.h"
#include "llm/driver.h"
#include "llm/endpoint.h"
#include "llm/http.h"
#include "llm/reply_reader.h"
#include "llm/wire.h"

struct http_state {
    struct endpoint endpoint;
    const char *url, *count_url;
    const char *key_variable;
    struct wire_features features;
    struct http *http;
    struct rng rng;
};

/* What attempts that broke off may have cost. */
struct loss {
    int64_t input_tokens, output_tokens;
};

/* One exchange. */
struct call {
    struct llm *llm;
    struct http_state *state;
    struct arena *arena;
    const char *secret;
    struct llm_request request; /* without the secret */
    const struct json *schema;
    int64_t max_output_tokens;
    int64_t deadline_ns;
    struct loss loss;
};

enum attempt_end { ATTEMPT_OK, ATTEMPT_AGAIN, ATTEMPT_AGAIN_CHANGED, ATTEMPT_FAILED };

/* What came of an attempt; `err` is filled unless it is ATTEMPT_OK. May change what the next
 * request of this model asks for. */
enum attempt_end exchange_judge(const struct call *call, struct reply_reader *reader,
                                const struct http_result *result, struct err *err);

/* A whole reply, without the key; takes its counts into the model's tally. */
void exchange_fill_reply(const struct call *call, const struct reply_reader *reader,
                         const char *request_json, int attempts, struct llm_reply *out);

#endif

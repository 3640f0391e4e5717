/*
 * Models: one exchange with a model behind an API. Three APIs are spoken over HTTP (OpenAI's chat
 * completions and Responses, Anthropic's Messages), each by the dialects of many servers, which are
 * rows of one table (docs/models.md); the dialect "replay" answers from a file, without a network.
 *
 * The key is known by the *name* of its environment variable only; its value is read at the moment
 * of the call, goes into one header, and is never in a log, an error, an argument list or a
 * recorded exchange: where a peer echoes it, it is replaced. Replies are capped. A reply that fails
 * by the peer's fault is retried as docs/models.md says (408, 409, 429, 5xx; Retry-After;
 * exponential wait with jitter), within the deadline and the budget. Threads: a model belongs to
 * one thread.
 */
#ifndef KOPE_LLM_LLM_H
#define KOPE_LLM_LLM_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llm; /* opaque */

/* US dollars for a million tokens; zeroed: nothing is known of them. */
struct llm_prices {
    bool is_known;
    double input, cached_input, cache_write, output;
};

/* Strings are copied. */
struct llm_opts {
    const char *dialect;      /* a row of llm_dialects; NULL: told by the host of the base URL */
    const char *base_url;     /* NULL: the dialect's variable ($OPENAI_BASE_URL, ...), else its
                                 own address; replay: path of the file */
    const char *key_variable; /* name of the variable that holds the key; NULL: the dialect's
                                 own; unset is fine for a local server */
    const char *model;        /* required */
    const char *max_tokens_field; /* chat completions: "max_completion_tokens" or "max_tokens";
                                     NULL: as the dialect wants it */
    const char *effort;           /* of reasoning ("low", "high"), as the server names it; NULL: it
                                     is not asked for */
    int64_t thinking_tokens;      /* Anthropic: budget of thinking; 0: none */
    bool has_temperature;         /* else none is sent */
    double temperature;
    int64_t max_output_tokens; /* 0: 8192, or half of the context where that is less */
    int64_t context_tokens;    /* that prompt and reply share; 0: the dialect's, or unknown */
    int64_t deadline_ns;       /* of one exchange with all its retries; 0: 120 s */
    size_t reply_limit_bytes;  /* of a reply's text; 0: 4 MiB */
    int retries;               /* 0: 4; -1: none */
    struct llm_prices prices;
};

/* ERR_UNSUPPORTED names the dialects that exist; ERR_BAD_INPUT for a model or URL that is none, and
 * for a setting that the dialect has no word for. No network yet. */
bool llm_open(const struct llm_opts *opts, struct llm **out, struct err *err);
void llm_close(struct llm **llm);

/* Where a prefix ends that will be sent again: for servers that are told what to keep. Others keep
 * prefixes by themselves, so the order of the messages matters for them alike. */
enum llm_cache { LLM_CACHE_NONE, LLM_CACHE_SHORT /* minutes */, LLM_CACHE_LONG /* an hour */ };

/* Consecutive messages of one role are parts of one message, joined as they are. */
struct llm_message {
    const char *role; /* "system" (only in front), "user", "assistant" */
    const char *text;
    enum llm_cache cache;      /* after this part; of more than 4 the last 4 count */
    const char *thinking_json; /* assistant: llm_reply.thinking_json, returned as it came; NULL */
};

/* What is left to spend; -1 (or any negative number): no limit. A call that might cost more is not
 * made. A limit on money needs known prices: ERR_BAD_INPUT. */
struct llm_budget {
    int64_t tokens;
    double usd;
};

struct llm_request {
    const struct llm_message *messages;
    size_t count;
    const char *schema_name; /* [A-Za-z0-9_-]{1,64} */
    const char *schema_json; /* the reply has to be JSON of this JSON Schema; NULL: free text. Sent
                                as strictly as the dialect can; say it in the prompt as well */
    int64_t max_output_tokens;       /* 0: the model's; more than that is lowered to it */
    const struct llm_budget *budget; /* NULL: no limit */
};

struct llm_usage {
    int64_t input_tokens; /* cached and written ones included */
    int64_t cached_tokens;
    int64_t cache_write_tokens;
    int64_t output_tokens; /* reasoning included */
    int64_t reasoning_tokens;
    bool is_estimate; /* the peer did not tell: bounds of what was sent and received */
};

struct llm_reply {
    const char *text;
    const char *finish_reason; /* one name for all APIs: "stop", "length", "content_filter",
                                  "refusal", "tool_calls"; another as it came; "" unknown */
    const char *problem; /* NULL, or why the text cannot be what was asked for: cut off, empty,
                            refused, not JSON though a schema was given. In words that may be
                            given back to the model */
    bool is_repairable;  /* another turn may mend the problem (not where it refused) */
    const char *thinking_json; /* Anthropic: JSON array of thinking blocks; NULL: none */
    struct llm_usage usage;
    int64_t lost_tokens; /* at most this many went into attempts that broke off in the middle of an
                            answer and were repeated */
    bool is_cost_known;
    double cost_usd; /* of the usage and the lost tokens: as the server says it, else by prices */
    const char *request_json, *reply_json; /* the exchange, without the key, for the journal */
    const char *prefix_hash; /* SHA-256 of the messages up to the last cache mark; "" without */
    int attempts;
    int64_t wall_ns;
};

/* One exchange. ERR_NETWORK, ERR_BUDGET (the budget might not do, 402, insufficient_quota),
 * ERR_LIMIT (context too long or reply over its cap), ERR_INTERRUPTED; ERR_BAD_INPUT where the key
 * cannot stand in a header. */
bool llm_chat(struct llm *llm, const struct llm_request *request, struct arena *arena,
              struct llm_reply *out, struct err *err);

/* What llm_reply.reply_json says of an exchange, judged again; without a network. ERR_CORRUPT where
 * it is none. */
bool llm_recorded_reply(const struct llm_request *request, const char *reply_json,
                        struct arena *arena, struct llm_reply *out, struct err *err);

/* The most that one exchange may cost, without a network. Input: the last prompt that the server
 * counted and that is the beginning of this one, plus the bytes of what is new; else 1.10 times the
 * estimate of base/tokens.h (more where this model's own counts showed more), never over the bytes;
 * 16 a message. */
struct llm_bound {
    int64_t input_tokens, output_tokens;
    bool is_cost_known;
    double usd;
};
struct llm_bound llm_bound(const struct llm *llm, const struct llm_request *request);

/* Asks the server for the exact count of the input; ERR_UNSUPPORTED where its dialect has no
 * address for that. */
bool llm_count_input_tokens(struct llm *llm, const struct llm_request *request, struct arena *arena,
                            int64_t *out, struct err *err);

/* What this model's own counts were against the estimate, over the exchanges so far. */
struct llm_calibration {
    int exchanges;
    double mean_ratio, worst_ratio; /* counted / estimated; 0 before the first */
};
struct llm_calibration llm_calibration(const struct llm *llm);

/* What was opened, for people: names and numbers that are in effect. Strings live as long as the
 * model. */
struct llm_info {
    const char *dialect, *api; /* "openai-chat", "openai-responses", "anthropic", "replay" */
    const char *model, *base_url, *key_variable;
    bool has_key;     /* the variable is set; its value is nobody's business */
    bool is_loopback; /* the server is on this machine, or there is none: no key is needed */
    int64_t max_output_tokens, context_tokens;
};
struct llm_info llm_info(const struct llm *llm);

/* The rows of the table. */
struct llm_dialect_info {
    const char *name, *api, *summary, *base_url, *key_variable;
};
size_t llm_dialects(struct llm_dialect_info *out, size_t capacity);

#endif

/*
 * Driver "http": one exchange over a wire: key, attempts, refusals, budget, accounting. How a
 * request is written and a reply read is the wire's; how servers differ is the dialect's.
 */
#include "llm/exchange.h"

#include "base/str.h"
#include "base/tokens.h"
#include "llm/retry.h"
#include "llm/secret.h"
#include "os/os.h"

#include <string.h>

enum { COUNT_REPLY_BYTES = 64 * 1024 };

/* A key that was meant for another server is not sent: that of a host with a row of its own goes
 * there. Where the variable of a base URL names such a host, and the host's own key is not set, its
 * companion is taken to be meant for it. */
static const char *choose_key_variable(const struct llm_opts *opts, const struct dialect *dialect,
                                       const struct dialect *by_host)
{
    if (opts->key_variable)
        return opts->key_variable;
    if (!by_host->host || by_host == dialect)
        return dialect->key_variable;
    if (!opts->base_url && !os_env(by_host->key_variable))
        return dialect->key_variable;
    return by_host->key_variable;
}

static const char *choose_base_url(const struct llm *llm, struct err *err)
{
    const struct dialect *dialect = llm->dialect;
    const char *url = llm->opts.base_url;
    if (!url && dialect->base_url_variable)
        url = os_env(dialect->base_url_variable);
    if (!url)
        url = dialect->base_url;
    if (!url) {
        (void)err_set(err, ERR_BAD_INPUT, "model '%s' has no base URL", llm->opts.model);
        (void)err_hint(err, "set base_url in kope.yaml, --base-url or $%s",
                       dialect->base_url_variable);
    }
    return url;
}

static bool http_driver_open(struct llm *llm, struct err *err)
{
    struct http_state *state = llm->state;
    struct llm_opts *opts = &llm->opts;
    const struct dialect *dialect = llm->dialect;
    const char *base_url = choose_base_url(llm, err);
    if (!base_url || !endpoint_parse(base_url, &llm->arena, &state->endpoint, err))
        return false;
    state->key_variable = choose_key_variable(opts, dialect, dialect_by_host(state->endpoint.host));
    state->url = endpoint_url(&state->endpoint, dialect->wire->path, &llm->arena);
    if (dialect->count_path)
        state->count_url = endpoint_url(&state->endpoint, dialect->count_path, &llm->arena);
    state->features = (struct wire_features){
        .max_tokens_field =
            opts->max_tokens_field ? opts->max_tokens_field : dialect->max_tokens_field,
        .is_field_fixed = opts->max_tokens_field != NULL || dialect->wire != &wire_chat,
        .usage_option = dialect->wants_usage_option,
        .schema = dialect->schema,
    };
    state->rng = rng_seeded(os_random_u64());
    state->http = http_open();
    opts->base_url = state->endpoint.base_url;
    llm->is_loopback = state->endpoint.is_loopback;
    opts->key_variable = state->key_variable;
    return true;
}

static void http_driver_close(struct llm *llm)
{
    struct http_state *state = llm->state;
    http_close(&state->http);
}

static char *write_body(const struct call *call, const struct wire *wire, bool is_count)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    const struct wire_setting setting = {
        .opts = &call->llm->opts,
        .dialect = call->llm->dialect,
        .features = &call->state->features,
        .request = &call->request,
        .schema = call->schema,
        .max_output_tokens = call->max_output_tokens,
        .is_count = is_count,
        .arena = call->arena,
    };
    json_begin_object(&w);
    wire->write_request(&setting, &w);
    json_end_object(&w);
    return arena_strdup(call->arena, buf_text(&text));
}

static void post(const struct call *call, const char *url, const char *body,
                 struct reply_reader *reader, struct http_result *result)
{
    http_post(call->state->http,
              &(struct http_request){.url = url,
                                     .body = body,
                                     .secret = call->secret,
                                     .secret_header = call->llm->dialect->key_header,
                                     .headers = call->llm->dialect->headers,
                                     .is_loopback = call->state->endpoint.is_loopback,
                                     .deadline_ns = call->deadline_ns,
                                     .on_data = reply_reader_feed,
                                     .context = reader,
                                     .is_complete = &reader->is_enough},
              result);
}

static enum attempt_end attempt_once(struct call *call, int attempts, int64_t *asked_ns,
                                     struct llm_reply *out, struct err *err)
{
    CLEANUP(reply_reader_free) struct reply_reader reader;
    struct http_result result;
    const char *body = write_body(call, call->llm->dialect->wire, false);
    reply_reader_init(&reader, call->llm->dialect, call->llm->opts.reply_limit_bytes, call->arena);
    reader.secret = call->secret;
    post(call, call->state->url, body, &reader, &result);
    if (result.status >= 200 && result.status <= 299)
        reply_reader_finish(&reader);
    const enum attempt_end end = exchange_judge(call, &reader, &result, err);
    *asked_ns = result.retry_after_ns;
    if (end == ATTEMPT_OK) {
        exchange_fill_reply(call, &reader, body, attempts, out);
    } else if (reader.wire_bytes != 0) { /* it had begun to answer: that may have to be paid */
        call->loss.input_tokens += llm_bound(call->llm, &call->request).input_tokens;
        call->loss.output_tokens +=
            tokens_bound(buf_text(&reader.text), reader.text.length) + reader.reasoning_bound;
    }
    return end;
}

static bool wait_to_retry(const struct call *call, int retried, int64_t asked_ns, struct err *err)
{
    const int64_t wait_ns = retry_wait_ns(retried, asked_ns, &call->state->rng);
    if (os_now_ns() + wait_ns >= call->deadline_ns)
        return err_hint(err, "the next try would be in %.3g s, after the deadline",
                        (double)wait_ns / 1e9);
    return retry_sleep(wait_ns)
               ? true
               : err_set(err, ERR_INTERRUPTED, "interrupted before model '%s' was asked again",
                         call->llm->opts.model);
}

static bool chat_with_retries(struct call *call, struct llm_reply *out, struct err *err)
{
    const int retries = call->llm->opts.retries;
    int retried = 0;
    for (int attempts = 1;; attempts++) {
        int64_t asked_ns = -1;
        const int64_t lost = call->loss.input_tokens + call->loss.output_tokens;
        if (!llm_check_budget(call->llm, &call->request, lost, call->arena, err))
            return attempts == 1 ? false : err_within(err, "after %d attempts", attempts - 1);
        const enum attempt_end end = attempt_once(call, attempts, &asked_ns, out, err);
        if (end == ATTEMPT_OK)
            return true;
        if (end == ATTEMPT_AGAIN_CHANGED)
            continue;
        if (end == ATTEMPT_FAILED)
            return false;
        if (retried == retries)
            return retries == 0 ? false : err_hint(err, "it was tried %d times", attempts);
        if (!wait_to_retry(call, retried++, asked_ns, err))
            return false;
    }
}

/* The key is read at the moment of a call, and taken out of what is sent. */
static bool begin_call(struct llm *llm, const struct llm_request *request, struct arena *arena,
                       struct call *out, struct err *err)
{
    struct http_state *state = llm->state;
    struct llm_message *clean = arena_array(arena, request->count, sizeof *clean);
    struct call call = {
        .llm = llm,
        .state = state,
        .arena = arena,
        .request = *request,
        .deadline_ns = os_now_ns() + llm->opts.deadline_ns,
    };
    if (!secret_read(state->key_variable, &call.secret, err))
        return false;
    for (size_t i = 0; i < request->count; i++) {
        clean[i] = request->messages[i];
        clean[i].text = secret_redact(call.secret, clean[i].text, arena);
    }
    call.request.messages = clean;
    if (request->schema_json && !json_parse(request->schema_json, strlen(request->schema_json),
                                            "schema", arena, &call.schema, err))
        BUG("llm: a schema that is no JSON: %s", err->message);
    *out = call;
    return true;
}

static bool http_driver_chat(struct llm *llm, const struct llm_request *request,
                             int64_t max_output_tokens, struct arena *arena, struct llm_reply *out,
                             struct err *err)
{
    struct call call;
    if (!begin_call(llm, request, arena, &call, err))
        return false;
    call.max_output_tokens = max_output_tokens;
    return chat_with_retries(&call, out, err);
}

static bool http_driver_count(struct llm *llm, const struct llm_request *request,
                              struct arena *arena, int64_t *out, struct err *err)
{
    CLEANUP(reply_reader_free) struct reply_reader reader;
    struct call call;
    struct http_result result;
    const struct json *reply = NULL;
    struct err ignored;
    if (!begin_call(llm, request, arena, &call, err))
        return false;
    call.max_output_tokens = llm->opts.max_output_tokens;
    reply_reader_init(&reader, llm->dialect, COUNT_REPLY_BYTES, arena);
    reader.secret = call.secret;
    reader.is_verbatim = true;
    post(&call, call.state->count_url, write_body(&call, llm->dialect->count_wire, true), &reader,
         &result);
    if (result.status < 200 || result.status > 299) {
        (void)exchange_judge(&call, &reader, &result, err);
        return false;
    }
    int64_t tokens = -1;
    if (result.end == HTTP_COMPLETE &&
        json_parse(buf_text(&reader.body), reader.body.length, "count", arena, &reply, &ignored))
        tokens = json_int(reply_at(reply, "input_tokens|prompt_tokens|total_tokens"), -1);
    if (tokens < 0)
        return err_set(err, ERR_NETWORK,
                       "model '%s' at '%s' did not tell how many tokens it counts", llm->opts.model,
                       call.state->endpoint.host);
    *out = tokens;
    return true;
}

const struct llm_driver llm_driver_http = {
    .version = LLM_DRIVER_VERSION,
    .name = "http",
    .state_bytes = sizeof(struct http_state),
    .open = http_driver_open,
    .close = http_driver_close,
    .chat = http_driver_chat,
    .count = http_driver_count,
};

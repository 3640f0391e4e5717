/* Driver "openai": chat completions, as OpenAI and most other servers speak them. */
#include "llm/driver.h"

#include "base/rng.h"
#include "base/str.h"
#include "base/tokens.h"
#include "llm/http.h"
#include "llm/peer_error.h"
#include "llm/provider.h"
#include "llm/reply_reader.h"
#include "llm/retry.h"
#include "llm/secret.h"
#include "os/os.h"

#include <string.h>

#define DEFAULT_BASE_URL "https://api.openai.com/v1"
enum { MESSAGE_LIMIT_BYTES = 400 };

struct openai_state {
    struct endpoint endpoint;
    const struct provider *provider;
    const char *key_variable;
    const char *max_tokens_field;
    bool wants_usage_option; /* until it is refused */
    bool is_field_fixed;     /* the user named the field: it is not learnt from refusals */
    struct http *http;
    struct rng rng;
};

/* One exchange. */
struct call {
    struct llm *llm;
    struct openai_state *state;
    struct arena *arena;
    const char *secret;
    const struct llm_message *messages; /* without the secret */
    size_t message_count;
    int64_t deadline_ns;
    int64_t lost_tokens;
};

/* A key that was meant for another server is not sent: OPENAI_API_KEY goes to a provider with a
 * variable of its own only where $OPENAI_BASE_URL, its companion, names that provider. */
static const char *choose_key_variable(const struct llm_opts *opts, const struct provider *provider)
{
    if (opts->key_variable)
        return opts->key_variable;
    if (!opts->base_url && os_env("OPENAI_BASE_URL") && !os_env(provider->key_variable))
        return "OPENAI_API_KEY";
    return provider->key_variable;
}

static bool openai_open(struct llm *llm, struct err *err)
{
    struct openai_state *state = llm->state;
    const struct llm_opts *opts = &llm->opts;
    const char *base_url = opts->base_url ? opts->base_url : os_env("OPENAI_BASE_URL");
    if (opts->max_tokens_field && !str_equal(opts->max_tokens_field, "max_tokens") &&
        !str_equal(opts->max_tokens_field, "max_completion_tokens")) {
        (void)err_set(err, ERR_BAD_INPUT, "'%s' is no name for the cap on a reply",
                      opts->max_tokens_field);
        return err_hint(err, "it is max_completion_tokens or max_tokens");
    }
    if (!endpoint_parse(base_url ? base_url : DEFAULT_BASE_URL, &llm->arena, &state->endpoint, err))
        return false;
    state->provider = provider_find(state->endpoint.host);
    state->key_variable = choose_key_variable(opts, state->provider);
    state->is_field_fixed = opts->max_tokens_field != NULL;
    state->max_tokens_field =
        opts->max_tokens_field ? opts->max_tokens_field : state->provider->max_tokens_field;
    state->wants_usage_option = true;
    state->rng = rng_seeded(os_random_u64());
    state->http = http_open();
    return true;
}

static void openai_close(struct llm *llm)
{
    struct openai_state *state = llm->state;
    http_close(&state->http);
}

static char *write_request(const struct call *call)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "model", call->llm->opts.model);
    json_key(&w, "messages");
    json_begin_array(&w);
    for (size_t i = 0; i < call->message_count; i++) {
        json_begin_object(&w);
        json_put_string(&w, "role", call->messages[i].role);
        json_put_string(&w, "content", call->messages[i].text);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_put_int(&w, call->state->max_tokens_field, call->llm->opts.max_output_tokens);
    json_put_bool(&w, "stream", true);
    if (call->state->wants_usage_option) {
        json_key(&w, "stream_options");
        json_begin_object(&w);
        json_put_bool(&w, "include_usage", true);
        json_end_object(&w);
    }
    json_end_object(&w);
    return arena_strdup(call->arena, buf_text(&text));
}

/* One form for what came back, streamed or not. */
static char *write_reply(const struct reply_reader *reader, const struct llm_reply *reply,
                         const char *secret, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "id", secret_redact(secret, reader->id, arena));
    json_put_string(&w, "model", secret_redact(secret, reader->model, arena));
    json_put_string(&w, "content", reply->text);
    json_put_string(&w, "finish_reason", reply->finish_reason);
    json_key(&w, "usage");
    json_begin_object(&w);
    json_put_int(&w, "input_tokens", reply->usage.input_tokens);
    json_put_int(&w, "cached_tokens", reply->usage.cached_tokens);
    json_put_int(&w, "output_tokens", reply->usage.output_tokens);
    json_put_int(&w, "reasoning_tokens", reply->usage.reasoning_tokens);
    json_put_bool(&w, "is_estimate", reply->usage.is_estimate);
    json_put_int(&w, "lost_tokens", reply->lost_tokens);
    json_end_object(&w);
    json_put_int(&w, "attempts", reply->attempts);
    json_end_object(&w);
    return arena_strdup(arena, buf_text(&text));
}

static struct llm_usage final_usage(const struct call *call, const struct reply_reader *reader,
                                    const char *text)
{
    struct llm_usage usage = reader->usage;
    usage.is_estimate = usage.input_tokens < 0 || usage.output_tokens < 0;
    if (usage.input_tokens < 0)
        usage.input_tokens = llm_bound_input_tokens(call->messages, call->message_count);
    if (usage.output_tokens < 0)
        usage.output_tokens = tokens_bound(text, strlen(text));
    if (usage.cached_tokens < 0)
        usage.cached_tokens = 0;
    if (usage.reasoning_tokens < 0)
        usage.reasoning_tokens = 0;
    return usage;
}

static void fill_reply(const struct call *call, const struct reply_reader *reader,
                       const char *request_json, int attempts, struct llm_reply *out)
{
    const bool is_refusal = reader->text.length == 0 && reader->refusal.length != 0;
    const char *said = buf_text(is_refusal ? &reader->refusal : &reader->text);
    const char *text = secret_redact(call->secret, said, call->arena);
    const char *finish = is_refusal ? "refusal" : reader->finish_reason;
    out->text = text == said ? arena_strdup(call->arena, said) : text;
    out->finish_reason = finish ? secret_redact(call->secret, finish, call->arena) : "";
    out->usage = final_usage(call, reader, out->text);
    out->lost_tokens = call->lost_tokens;
    out->attempts = attempts;
    out->request_json = request_json;
    out->reply_json = write_reply(reader, out, call->secret, call->arena);
}

/* "model 'm' at 'host': ..." from what the peer said, redacted first and shortened after. */
static bool set_peer_err(const struct call *call, enum err_kind kind,
                         const struct peer_error *error, struct err *err)
{
    const char *message = peer_text_line(secret_redact(call->secret, error->message, call->arena),
                                         MESSAGE_LIMIT_BYTES, call->arena);
    const char *code = error->code[0] != '\0' ? error->code : error->type;
    code = peer_text_line(secret_redact(call->secret, code, call->arena), 64, call->arena);
    const char *status =
        error->status ? arena_printf(call->arena, "HTTP %ld", error->status) : "an error";
    return err_set(err, kind, "model '%s' at '%s' answered %s%s%s%s: %s", call->llm->opts.model,
                   call->state->endpoint.host, status, code[0] != '\0' ? " (" : "", code,
                   code[0] != '\0' ? ")" : "", message[0] != '\0' ? message : "no more was said");
}

static bool fail_by_fault(const struct call *call, enum peer_fault fault,
                          const struct peer_error *error, struct err *err)
{
    static const enum err_kind kinds[] = {
        [PEER_FAULT_TRANSIENT] = ERR_NETWORK, [PEER_FAULT_OVERFLOW] = ERR_LIMIT,
        [PEER_FAULT_QUOTA] = ERR_BUDGET,      [PEER_FAULT_KEY] = ERR_NETWORK,
        [PEER_FAULT_REQUEST] = ERR_NETWORK,
    };
    (void)set_peer_err(call, kinds[fault], error, err);
    if (fault == PEER_FAULT_OVERFLOW && error->context_tokens > 0)
        return err_hint(err,
                        "the prompt has %lld tokens, the server takes %lld: lower the context "
                        "budget or raise the server's",
                        (long long)error->prompt_tokens, (long long)error->context_tokens);
    if (fault == PEER_FAULT_OVERFLOW)
        return err_hint(err, "lower the context budget, or raise the context of the server");
    if (fault == PEER_FAULT_QUOTA)
        return err_hint(err, "the account has no credit left: nothing was tried again");
    if (fault == PEER_FAULT_KEY)
        return err_hint(err,
                        call->secret ? "the key in $%s was not accepted"
                                     : "set $%s to a key of this server",
                        call->state->key_variable);
    if (error->status == 404)
        return err_hint(err, "check the name of the model and that the base URL ends as the "
                             "server wants it, often in /v1");
    if (error->status >= 300 && error->status < 400)
        return err_hint(err, "redirects are not followed: set the base URL to where it points");
    return false;
}

/* A request that a server refuses for a field that it does not know is sent once more without. */
static bool learn_from_refusal(struct openai_state *state, const struct peer_error *error)
{
    if (error->status != 400 && error->status != 422)
        return false;
    if (state->wants_usage_option && strstr(error->message, "stream_options")) {
        state->wants_usage_option = false;
        return true;
    }
    if (state->is_field_fixed || !strstr(error->message, state->max_tokens_field))
        return false;
    state->is_field_fixed = true;
    state->max_tokens_field =
        str_equal(state->max_tokens_field, "max_tokens") ? "max_completion_tokens" : "max_tokens";
    return true;
}

enum attempt_end { ATTEMPT_OK, ATTEMPT_AGAIN, ATTEMPT_AGAIN_CHANGED, ATTEMPT_FAILED };

static enum attempt_end judge_peer_error(const struct call *call, const struct peer_error *error,
                                         const struct http_result *result, struct err *err)
{
    const enum peer_fault fault = peer_error_classify(error, result->should_retry);
    (void)fail_by_fault(call, fault, error, err);
    if (fault == PEER_FAULT_TRANSIENT)
        return ATTEMPT_AGAIN;
    if (fault == PEER_FAULT_REQUEST && learn_from_refusal(call->state, error))
        return ATTEMPT_AGAIN_CHANGED;
    return ATTEMPT_FAILED;
}

/* What came of the transfer, worst news first. */
static enum attempt_end judge_attempt(const struct call *call, struct reply_reader *reader,
                                      const struct http_result *result, struct err *err)
{
    const char *model = call->llm->opts.model;
    const char *host = call->state->endpoint.host;
    if (result->end == HTTP_INTERRUPTED) {
        (void)err_set(err, ERR_INTERRUPTED, "interrupted while model '%s' answered", model);
        return ATTEMPT_FAILED;
    }
    if (result->status >= 100 && (result->status < 200 || result->status > 299) &&
        result->end != HTTP_DEADLINE) {
        const struct peer_error error = peer_error_from_body(
            result->status, buf_text(&reader->body), reader->body.length, call->arena);
        return judge_peer_error(call, &error, result, err);
    }
    if (reader->trouble == REPLY_TOO_LARGE) {
        (void)err_set(err, ERR_LIMIT, "the reply of model '%s' exceeds %zu bytes", model,
                      call->llm->opts.reply_limit_bytes);
        return ATTEMPT_FAILED;
    }
    if (reader->trouble == REPLY_PEER_ERROR)
        return judge_peer_error(call, &reader->error, result, err);
    if (reply_reader_is_whole(reader))
        return ATTEMPT_OK;
    if (result->end == HTTP_DEADLINE) {
        (void)err_set(err, ERR_NETWORK, "model '%s' at '%s' gave no whole reply within %.3g s",
                      model, host, (double)call->llm->opts.deadline_ns / 1e9);
        (void)err_hint(err, "raise the deadline, or ask for shorter replies");
        return ATTEMPT_FAILED;
    }
    if (result->end == HTTP_BROKEN || result->end == HTTP_REFUSED)
        (void)err_set(err, ERR_NETWORK, "no reply of model '%s' from '%s': %s", model, host,
                      result->problem);
    else if (reader->trouble == REPLY_MALFORMED)
        (void)err_set(err, ERR_NETWORK, "the reply of model '%s' at '%s' is not valid JSON", model,
                      host);
    else
        (void)err_set(err, ERR_NETWORK, "the reply of model '%s' at '%s' broke off", model, host);
    return result->end == HTTP_REFUSED ? ATTEMPT_FAILED : ATTEMPT_AGAIN;
}

static enum attempt_end attempt_once(struct call *call, int attempts, int64_t *asked_ns,
                                     struct llm_reply *out, struct err *err)
{
    CLEANUP(reply_reader_free) struct reply_reader reader;
    struct http_result result;
    const char *body = write_request(call);
    reply_reader_init(&reader, call->llm->opts.reply_limit_bytes, call->arena);
    http_post(call->state->http,
              &(struct http_request){.url = call->state->endpoint.url,
                                     .body = body,
                                     .secret = call->secret,
                                     .is_loopback = call->state->endpoint.is_loopback,
                                     .deadline_ns = call->deadline_ns,
                                     .on_data = reply_reader_feed,
                                     .context = &reader,
                                     .is_complete = &reader.is_done},
              &result);
    if (result.status >= 200 && result.status <= 299)
        reply_reader_finish(&reader);
    const enum attempt_end end = judge_attempt(call, &reader, &result, err);
    *asked_ns = result.retry_after_ns;
    if (end == ATTEMPT_OK)
        fill_reply(call, &reader, body, attempts, out);
    else if (reader.wire_bytes != 0) /* it had begun to answer, and that may have been paid for */
        call->lost_tokens += llm_bound_input_tokens(call->messages, call->message_count) +
                             tokens_bound(buf_text(&reader.text), reader.text.length);
    return end;
}

static bool chat_with_retries(struct call *call, struct llm_reply *out, struct err *err)
{
    const int retries = call->llm->opts.retries;
    int retried = 0;
    for (int attempts = 1;; attempts++) {
        int64_t asked_ns = -1;
        const enum attempt_end end = attempt_once(call, attempts, &asked_ns, out, err);
        if (end == ATTEMPT_OK)
            return true;
        if (end == ATTEMPT_AGAIN_CHANGED)
            continue;
        if (end == ATTEMPT_FAILED)
            return false;
        if (retried == retries)
            return retries == 0 ? false : err_hint(err, "it was tried %d times", attempts);
        const int64_t wait_ns = retry_wait_ns(retried++, asked_ns, &call->state->rng);
        if (os_now_ns() + wait_ns >= call->deadline_ns)
            return err_hint(err, "the next try would be in %.3g s, after the deadline",
                            (double)wait_ns / 1e9);
        if (!retry_sleep(wait_ns))
            return err_set(err, ERR_INTERRUPTED, "interrupted before model '%s' was asked again",
                           call->llm->opts.model);
    }
}

static bool openai_chat(struct llm *llm, const struct llm_message *messages, size_t count,
                        struct arena *arena, struct llm_reply *out, struct err *err)
{
    struct openai_state *state = llm->state;
    struct llm_message *clean = arena_array(arena, count, sizeof *clean);
    struct call call = {
        .llm = llm,
        .state = state,
        .arena = arena,
        .messages = clean,
        .message_count = count,
        .deadline_ns = os_now_ns() + llm->opts.deadline_ns,
    };
    if (!secret_read(state->key_variable, &call.secret, err))
        return false;
    for (size_t i = 0; i < count; i++)
        clean[i] = (struct llm_message){messages[i].role,
                                        secret_redact(call.secret, messages[i].text, arena)};
    return chat_with_retries(&call, out, err);
}

const struct llm_driver llm_driver_openai = {
    .version = LLM_DRIVER_VERSION,
    .name = "openai",
    .summary = "OpenAI-compatible chat completions",
    .state_bytes = sizeof(struct openai_state),
    .open = openai_open,
    .close = openai_close,
    .chat = openai_chat,
};

/* What came of an attempt: in words, and whether another may help. */
#include "llm/exchange.h"

#include "base/str.h"
#include "llm/peer_error.h"
#include "llm/secret.h"

#include <string.h>

enum { MESSAGE_LIMIT_BYTES = 400 };

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
    if (fault == PEER_FAULT_OVERFLOW && error->context_tokens > 0 && error->prompt_tokens > 0)
        return err_hint(err,
                        "the prompt has %lld tokens, the server takes %lld: lower the context "
                        "budget or raise the server's",
                        (long long)error->prompt_tokens, (long long)error->context_tokens);
    if (fault == PEER_FAULT_OVERFLOW && error->context_tokens > 0)
        return err_hint(err,
                        "the server takes %lld tokens: lower the context budget, and set "
                        "context_tokens of the model in kope.yaml",
                        (long long)error->context_tokens);
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

/* A request that a server refuses for a field that it does not know is sent once more without it,
 * or with the next best. */
static bool learn_from_refusal(struct wire_features *features, const struct peer_error *error)
{
    static const char *const schema_words[] = {"response_format", "json_schema", "text.format",
                                               "output_config"};
    if (error->status != 400 && error->status != 422)
        return false;
    if (features->usage_option && strstr(error->message, "stream_options")) {
        features->usage_option = false;
        return true;
    }
    for (size_t i = 0; i < sizeof schema_words / sizeof *schema_words; i++) {
        if (features->schema == SCHEMA_NONE || !strstr(error->message, schema_words[i]))
            continue;
        features->schema =
            features->schema == SCHEMA_JSON_SCHEMA ? SCHEMA_JSON_OBJECT : SCHEMA_NONE;
        return true;
    }
    if (features->is_field_fixed || !strstr(error->message, features->max_tokens_field))
        return false;
    features->is_field_fixed = true;
    features->max_tokens_field = str_equal(features->max_tokens_field, "max_tokens")
                                     ? "max_completion_tokens"
                                     : "max_tokens";
    return true;
}

static enum attempt_end judge_peer_error(const struct call *call, const struct peer_error *error,
                                         const struct http_result *result, struct err *err)
{
    const enum peer_fault fault = peer_error_classify(error, result->should_retry);
    (void)fail_by_fault(call, fault, error, err);
    if (fault == PEER_FAULT_TRANSIENT)
        return ATTEMPT_AGAIN;
    if (fault == PEER_FAULT_REQUEST && learn_from_refusal(&call->state->features, error))
        return ATTEMPT_AGAIN_CHANGED;
    return ATTEMPT_FAILED;
}

/* What came of the transfer, worst news first. */
enum attempt_end exchange_judge(const struct call *call, struct reply_reader *reader,
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

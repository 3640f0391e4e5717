/* A reply as callers see it: text, usage, cost and the record of the exchange. */
#include "llm/exchange.h"

#include "base/tokens.h"
#include "llm/secret.h"

#include <string.h>

/* What the key is replaced in, and kept. */
static const char *keep(const struct call *call, const char *text)
{
    const char *clean = secret_redact(call->secret, text, call->arena);
    return clean == text ? arena_strdup(call->arena, text) : clean;
}

static int64_t known_or(int64_t count, int64_t otherwise)
{
    return count >= 0 ? count : otherwise;
}

static struct llm_usage final_usage(const struct call *call, const struct reply_reader *reader,
                                    const char *text)
{
    const struct reply_counts *c = &reader->counts;
    struct llm_usage usage = {
        .cached_tokens = known_or(c->cached, 0),
        .cache_write_tokens = known_or(c->cache_write, 0),
        .reasoning_tokens = known_or(c->reasoning, 0),
        .is_estimate = c->input < 0 || c->output < 0,
    };
    usage.input_tokens = known_or(c->input, llm_bound(call->llm, &call->request).input_tokens);
    if (c->input >= 0 && call->llm->dialect->usage.input_is_uncached)
        usage.input_tokens += usage.cached_tokens + usage.cache_write_tokens;
    usage.output_tokens =
        known_or(c->output, tokens_bound(text, strlen(text)) + reader->reasoning_bound);
    if (c->output < 0 && c->reasoning < 0)
        usage.reasoning_tokens = reader->reasoning_bound;
    return usage;
}

/* What it cost: as the server says, else by prices; what was lost by prices. */
static void fill_cost(const struct call *call, const struct reply_reader *reader,
                      struct llm_reply *out)
{
    const struct llm_usage lost = {.input_tokens = call->loss.input_tokens,
                                   .output_tokens = call->loss.output_tokens};
    double usd = 0.0;
    double lost_usd = 0.0;
    bool is_known = llm_cost_usd(call->llm, &out->usage, &usd);
    if (reader->counts.cost_usd >= 0.0) {
        usd = reader->counts.cost_usd;
        is_known = true;
    }
    if (!llm_cost_usd(call->llm, &lost, &lost_usd))
        is_known = is_known && out->lost_tokens == 0;
    out->is_cost_known = is_known;
    out->cost_usd = is_known ? usd + lost_usd : 0.0;
}

/* One form for what came back, streamed or not. */
static char *write_reply(const struct call *call, const struct reply_reader *reader,
                         const struct llm_reply *reply)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "id", keep(call, reader->id));
    json_put_string(&w, "model", keep(call, reader->model));
    json_put_string(&w, "content", reply->text);
    json_put_string(&w, "finish_reason", reply->finish_reason);
    json_key(&w, "usage");
    json_begin_object(&w);
    json_put_int(&w, "input_tokens", reply->usage.input_tokens);
    json_put_int(&w, "cached_tokens", reply->usage.cached_tokens);
    json_put_int(&w, "cache_write_tokens", reply->usage.cache_write_tokens);
    json_put_int(&w, "output_tokens", reply->usage.output_tokens);
    json_put_int(&w, "reasoning_tokens", reply->usage.reasoning_tokens);
    json_put_bool(&w, "is_estimate", reply->usage.is_estimate);
    json_put_int(&w, "lost_tokens", reply->lost_tokens);
    if (reply->is_cost_known)
        json_put_real(&w, "cost_usd", reply->cost_usd);
    json_end_object(&w);
    json_put_int(&w, "attempts", reply->attempts);
    json_end_object(&w);
    return arena_strdup(call->arena, buf_text(&text));
}

/* The blocks of thinking as they came; none where they would not be the same any more. */
static const char *thinking_of(const struct call *call, const struct reply_reader *reader)
{
    const char *text = buf_text(&reader->thinking);
    if (reader->thinking.length == 0 || reader->thinking.truncated ||
        secret_redact(call->secret, text, call->arena) != text)
        return NULL;
    return arena_printf(call->arena, "[%s]", text);
}

void exchange_fill_reply(const struct call *call, const struct reply_reader *reader,
                         const char *request_json, int attempts, struct llm_reply *out)
{
    const bool is_refusal = reader->text.length == 0 && reader->refusal.length != 0;
    out->text = keep(call, buf_text(is_refusal ? &reader->refusal : &reader->text));
    out->finish_reason = is_refusal              ? "refusal"
                         : reader->finish_reason ? reader->finish_reason
                                                 : "";
    out->thinking_json = thinking_of(call, reader);
    out->usage = final_usage(call, reader, out->text);
    out->lost_tokens = call->loss.input_tokens + call->loss.output_tokens;
    fill_cost(call, reader, out);
    out->attempts = attempts;
    out->request_json = request_json;
    out->reply_json = write_reply(call, reader, out);
    if (reader->counts.input >= 0)
        llm_learn_count(call->llm, &call->request, out->usage.input_tokens);
}

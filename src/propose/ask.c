#include "propose/ask.h"

#include "base/buf.h"
#include "os/os.h"
#include "json/json.h"

#include <string.h>

/* Messages as [{"role","content"},...]: what a prompt is known and compared by. */
static char *prompt_json(const struct llm_message *messages, size_t count, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(&w);
        json_put_string(&w, "role", messages[i].role);
        json_put_string(&w, "content", messages[i].text);
        json_end_object(&w);
    }
    json_end_array(&w);
    return arena_strdup(arena, buf_text(&text));
}

static char *value_text(const struct json *value, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_write_value(&w, value);
    return arena_strdup(arena, buf_text(&text));
}

/* `*found` is false where nothing is recorded and the model has to be asked. */
static bool recall(const struct asking *a, const char *role, const char *prompt,
                   const struct llm_request *request, bool *found, struct llm_reply *out,
                   struct err *err)
{
    const struct propose_record *record = a->request->record;
    const char *recorded = NULL;
    const struct json *exchange = NULL;
    *found = false;
    if (!record || !record->recall)
        return true;
    if (!record->recall(record->context, role, prompt, a->arena, &recorded, err))
        return false;
    if (!recorded)
        return true;
    *found = true;
    if (!json_parse(recorded, strlen(recorded), "recorded exchange", a->arena, &exchange, err))
        return false;
    const struct json *reply = json_get(exchange, "reply");
    if (!reply)
        return err_set(err, ERR_CORRUPT, "a recorded exchange has no reply");
    return llm_recorded_reply(request, value_text(reply, a->arena), a->arena, out, err);
}

static bool ask_model(const struct asking *a, const char *role, const char *prompt,
                      struct llm_request *request, struct llm_reply *out, struct err *err)
{
    const struct propose_record *record = a->request->record;
    const struct llm_info info = llm_info(a->llm);
    const int64_t start_ns = os_now_ns();
    struct llm_budget left = {.tokens = -1, .usd = -1.0};
    if (a->request->budget) {
        left = *a->request->budget;
        if (left.tokens >= 0)
            left.tokens = left.tokens > a->tokens_in + a->tokens_out
                              ? left.tokens - a->tokens_in - a->tokens_out
                              : 0;
        if (left.usd >= 0.0)
            left.usd = left.usd > a->cost_usd ? left.usd - a->cost_usd : 0.0;
        request->budget = &left;
    }
    struct propose_exchange exchange = {
        .role = role,
        .model = a->model,
        .dialect = info.dialect,
        .server = info.base_url ? info.base_url : "",
        .prompt_hash = arena_strdup(a->arena, hash_content(prompt, strlen(prompt)).text),
        .start_ns = os_wall_ns()};
    const bool ok = llm_chat(a->llm, request, a->arena, out, err);
    exchange.wall_ns = os_now_ns() - start_ns;
    if (!ok) {
        exchange.problem = err_kind_name(err->kind);
        if (record && record->note_failure)
            record->note_failure(record->context, &exchange);
        return false;
    }
    exchange.reply = out;
    exchange.exchange_json = arena_printf(a->arena, "{\"messages\":%s,\"request\":%s,\"reply\":%s}",
                                          prompt, out->request_json, out->reply_json);
    return !record || !record->keep || record->keep(record->context, &exchange, err);
}

bool ask(struct asking *asking, const char *role, const struct llm_message *messages, size_t count,
         const char *schema_json, struct llm_reply *out, struct err *err)
{
    struct llm_request request = {.messages = messages,
                                  .count = count,
                                  .schema_name = schema_json ? "reply" : NULL,
                                  .schema_json = schema_json};
    const char *prompt = prompt_json(messages, count, asking->arena);
    bool found = false;
    if (!recall(asking, role, prompt, &request, &found, out, err))
        return false;
    if (!found && !asking->llm)
        return err_set(err, ERR_CORRUPT, "the recorded run has no exchange '%s' here", role);
    if (!found && !ask_model(asking, role, prompt, &request, out, err))
        return false;
    asking->tokens_in += out->usage.input_tokens + out->lost_tokens;
    asking->tokens_out += out->usage.output_tokens;
    asking->cost_usd += out->cost_usd;
    return true;
}

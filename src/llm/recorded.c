/* A reply that was recorded, read again. */
#include "llm/driver.h"

#include "json/json.h"

#include <string.h>

bool llm_recorded_reply(const struct llm_request *request, const char *reply_json,
                        struct arena *arena, struct llm_reply *out, struct err *err)
{
    const struct json *json = NULL;
    if (!json_parse(reply_json, strlen(reply_json), "recorded reply", arena, &json, err)) {
        err->kind = ERR_CORRUPT;
        return false;
    }
    const char *text = json_string(json_get(json, "content"), NULL);
    if (!text)
        return err_set(err, ERR_CORRUPT, "a recorded reply has no \"content\"");
    const struct json *usage = json_get(json, "usage");
    struct llm_reply reply = {
        .text = text,
        .finish_reason = json_string(json_get(json, "finish_reason"), ""),
        .usage = {.input_tokens = json_int(json_get(usage, "input_tokens"), 0),
                  .cached_tokens = json_int(json_get(usage, "cached_tokens"), 0),
                  .cache_write_tokens = json_int(json_get(usage, "cache_write_tokens"), 0),
                  .output_tokens = json_int(json_get(usage, "output_tokens"), 0),
                  .reasoning_tokens = json_int(json_get(usage, "reasoning_tokens"), 0),
                  .is_estimate = json_bool(json_get(usage, "is_estimate"), false)},
        .lost_tokens = json_int(json_get(usage, "lost_tokens"), 0),
        .is_cost_known = json_get(usage, "cost_usd") != NULL,
        .cost_usd = json_real(json_get(usage, "cost_usd"), 0.0),
        .attempts = (int)json_int(json_get(json, "attempts"), 1),
        .reply_json = reply_json,
        .prefix_hash = "",
    };
    llm_judge_reply(request, arena, &reply);
    *out = reply;
    return true;
}

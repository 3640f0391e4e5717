/*
 * Dialect "replay": answers from a file, one line of JSON each, in the form of
 * llm_reply.reply_json:
 * {"content":"...","finish_reason":"stop","usage":{"input_tokens":9,"output_tokens":3}}. Only
 * "content" is required. Answers go out in the order of the file, whatever is asked. For tests, for
 * demonstrations without a network, and for a look at an old run.
 */
#include "llm/driver.h"

#include "base/str.h"
#include "base/tokens.h"
#include "os/file.h"
#include "json/json.h"

#include <string.h>

enum { REPLAY_FILE_LIMIT_BYTES = 64 * 1024 * 1024 };

struct replay_state {
    const char *next; /* rest of the file; in llm->arena */
    int line;
};

static bool replay_open(struct llm *llm, struct err *err)
{
    struct replay_state *state = llm->state;
    char *text = NULL;
    if (!llm->opts.base_url) {
        (void)err_set(err, ERR_BAD_INPUT, "the replay driver has no file to answer from");
        return err_hint(err, "give its path as the base URL");
    }
    if (!os_read_file(llm->opts.base_url, REPLAY_FILE_LIMIT_BYTES, &llm->arena, &text, NULL, err))
        return false;
    state->next = text;
    llm->is_loopback = true;
    return true;
}

/* The next line that is not empty; NULL at the end. */
static const char *next_line(struct replay_state *state, size_t *length)
{
    while (*state->next != '\0') {
        const char *line = state->next;
        *length = strcspn(line, "\n");
        state->next += *length + (line[*length] == '\n');
        state->line++;
        if (*length != 0)
            return line;
    }
    return NULL;
}

static char *write_request(const struct llm *llm, const struct llm_request *request,
                           struct arena *arena)
{
    const struct llm_message *messages = request->messages;
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "model", llm->opts.model);
    json_key(&w, "messages");
    json_begin_array(&w);
    for (size_t i = 0; i < request->count; i++) {
        json_begin_object(&w);
        json_put_string(&w, "role", messages[i].role);
        json_put_string(&w, "content", messages[i].text);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    return arena_strdup(arena, buf_text(&text));
}

static bool replay_chat(struct llm *llm, const struct llm_request *request,
                        int64_t max_output_tokens, struct arena *arena, struct llm_reply *out,
                        struct err *err)
{
    struct replay_state *state = llm->state;
    size_t length = 0;
    const struct json *json = NULL;
    (void)max_output_tokens; /* the answers are what they are */
    if (!llm_check_budget(llm, request, 0, arena, err))
        return false;
    const char *line = next_line(state, &length);
    if (!line)
        return err_set(err, ERR_NETWORK, "'%s' holds no more replies (it has %d lines)",
                       llm->opts.base_url, state->line);
    if (!json_parse(line, length, llm->opts.base_url, arena, &json, err))
        return err_within(err, "line %d", state->line);
    const char *text = json_string(json_get(json, "content"), NULL);
    if (!text)
        return err_set(err, ERR_BAD_INPUT, "'%s', line %d: a reply has no \"content\"",
                       llm->opts.base_url, state->line);
    const struct json *usage = json_get(json, "usage");
    out->text = text;
    out->finish_reason = json_string(json_get(json, "finish_reason"), "stop");
    out->usage = (struct llm_usage){
        .input_tokens =
            json_int(json_get(usage, "input_tokens"), llm_bound(llm, request).input_tokens),
        .cached_tokens = json_int(json_get(usage, "cached_tokens"), 0),
        .cache_write_tokens = json_int(json_get(usage, "cache_write_tokens"), 0),
        .output_tokens =
            json_int(json_get(usage, "output_tokens"), tokens_bound(text, strlen(text))),
        .reasoning_tokens = json_int(json_get(usage, "reasoning_tokens"), 0),
        .is_estimate = json_bool(json_get(usage, "is_estimate"), !usage),
    };
    out->lost_tokens = json_int(json_get(usage, "lost_tokens"), 0);
    out->is_cost_known = json_get(usage, "cost_usd") != NULL;
    out->cost_usd = json_real(json_get(usage, "cost_usd"), 0.0);
    if (!out->is_cost_known)
        out->is_cost_known = llm_cost_usd(llm, &out->usage, &out->cost_usd);
    out->attempts = 1;
    out->request_json = write_request(llm, request, arena);
    out->reply_json = arena_strndup(arena, line, length);
    return true;
}

const struct llm_driver llm_driver_replay = {
    .version = LLM_DRIVER_VERSION,
    .name = "replay",
    .state_bytes = sizeof(struct replay_state),
    .open = replay_open,
    .chat = replay_chat,
};

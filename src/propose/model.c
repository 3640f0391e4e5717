/*
 * Driver "llm": asks a model for a whole file. One request is one exchange; a reply that cannot be
 * read is answered once with what was wrong, and after that the proposal is a failure: an outcome,
 * which the run keeps and has paid for.
 */
#include "propose/driver.h"

#include "base/buf.h"
#include "base/str.h"
#include "propose/reply.h"

#include <string.h>

enum { MAX_TURNS = 2, MAX_MESSAGES = 4, QUOTED_REPLY_BYTES = 48 * 1024 };

struct model_state {
    struct llm *llm;
};

/* The exchanges of one proposal. */
struct session {
    struct llm *llm;
    const struct task *task;
    const struct propose_request *request;
    struct arena *arena;
    struct llm_message messages[MAX_MESSAGES];
    size_t message_count;
    struct buf exchanges;
    int turns;
    int64_t tokens_in, tokens_out;
};

static bool model_open(struct proposer *proposer, const struct proposer_opts *opts, struct err *err)
{
    struct model_state *state = proposer->state;
    if (!opts->llm)
        BUG("propose: the llm proposer needs a model");
    return llm_open(opts->llm, &state->llm, err);
}

static void model_close(struct proposer *proposer)
{
    struct model_state *state = proposer->state;
    llm_close(&state->llm);
}

static void say(struct session *s, const char *role, const char *text)
{
    s->messages[s->message_count++] = (struct llm_message){.role = role, .text = text};
}

static bool take_turn(struct session *s, struct llm_reply *reply, struct err *err)
{
    /* The budget is a hard bound: an exchange that could exceed what is left is not begun. */
    const int64_t left = s->request->token_budget - s->tokens_in - s->tokens_out;
    const struct llm_budget budget = {.tokens = s->request->token_budget == 0 ? -1
                                                : left > 0                    ? left
                                                                              : 0,
                                      .usd = -1.0};
    const struct llm_request request = {
        .messages = s->messages, .count = s->message_count, .budget = &budget};
    if (!llm_chat(s->llm, &request, s->arena, reply, err))
        return false;
    s->tokens_in += reply->usage.input_tokens + reply->lost_tokens;
    s->tokens_out += reply->usage.output_tokens;
    (void)buf_printf(&s->exchanges, "%s{\"request\":", s->turns++ == 0 ? "" : ",");
    (void)buf_append_str(&s->exchanges, reply->request_json);
    (void)buf_append_str(&s->exchanges, ",\"reply\":");
    (void)buf_append_str(&s->exchanges, reply->reply_json);
    (void)buf_append_char(&s->exchanges, '}');
    return true;
}

static bool was_judged(const struct session *s, const struct candidate *candidate)
{
    const struct hash_id id = candidate_id(candidate);
    for (size_t i = 0; i < s->request->tried_count; i++) {
        if (str_equal(s->request->tried[i], id.text))
            return true;
    }
    return false;
}

/* NULL and a filled proposal, or what is wrong with the reply. */
static const char *read_reply(const struct session *s, const struct llm_reply *reply,
                              struct proposal *out)
{
    if (reply->problem)
        return reply->problem;
    struct proposal parsed = {0};
    const char *problem = reply_parse(reply->text, s->task, s->request->parent, s->arena, &parsed);
    if (problem)
        return problem;
    if (was_judged(s, &parsed.candidate))
        return "this very candidate was judged before; propose a different one";
    *out = parsed;
    return NULL;
}

static void ask_for_repair(struct session *s, const struct llm_reply *reply, const char *problem)
{
    const size_t length = strnlen(reply->text, QUOTED_REPLY_BYTES);
    /* Not in the middle of a character; and servers refuse an empty message. */
    size_t end = length;
    while (end > 0 && ((unsigned char)reply->text[end] & 0xc0) == 0x80)
        end--;
    say(s, "assistant", end == 0 ? "(nothing)" : arena_strndup(s->arena, reply->text, end));
    say(s, "user",
        arena_printf(s->arena,
                     "Your reply cannot be used: %s. Answer again in full, with one ```json block "
                     "and one ```c block that holds the whole file, and nothing else.",
                     problem));
}

/* Turns until there is a candidate or a reason why there is none; an error only where nothing has
 * been paid for yet, since the tokens of a first turn must not get lost. */
static bool run_turns(struct session *s, struct proposal *out, const char **failure,
                      struct err *err)
{
    const char *problem = NULL;
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        struct llm_reply reply;
        if (!take_turn(s, &reply, err)) {
            if (turn == 0)
                return false;
            *failure = arena_printf(s->arena, "malformed reply (%s), and no repair: %s", problem,
                                    err->message);
            return true;
        }
        if (reply.problem && !reply.is_repairable) {
            *failure = reply.problem;
            return true;
        }
        problem = read_reply(s, &reply, out);
        if (!problem)
            return true;
        if (turn + 1 < MAX_TURNS)
            ask_for_repair(s, &reply, problem);
    }
    *failure = arena_printf(s->arena, "malformed reply twice: %s", problem);
    return true;
}

static bool model_next(struct proposer *proposer, const struct propose_request *request,
                       struct arena *arena, bool *exhausted, struct proposal *out, struct err *err)
{
    const struct model_state *state = proposer->state;
    struct session s = {
        .llm = state->llm, .task = proposer->task, .request = request, .arena = arena};
    const char *failure = NULL;
    if (!request->context)
        BUG("propose: the llm proposer needs a context");
    *exhausted = false; /* a model always has something to say */
    say(&s, "system", propose_reply_contract());
    say(&s, "user", request->context);
    const bool ok = run_turns(&s, out, &failure, err);
    if (ok) {
        if (failure)
            *out = (struct proposal){.candidate = {.source = ""}};
        out->failure = failure;
        out->tokens_in = s.tokens_in;
        out->tokens_out = s.tokens_out;
        out->exchange_json = arena_printf(arena, "{\"turns\":[%s]}", buf_text(&s.exchanges));
    }
    buf_free(&s.exchanges);
    return ok;
}

const struct proposer_driver proposer_driver_llm = {
    .version = PROPOSER_DRIVER_VERSION,
    .name = "llm",
    .summary = "a model behind an API",
    .argument = "MODEL",
    .state_bytes = sizeof(struct model_state),
    .open = model_open,
    .close = model_close,
    .next = model_next,
};

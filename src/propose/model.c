/*
 * Driver "llm": asks a model for candidates. Small steps may go to a cheaper model than large ones.
 * A reply that cannot be read is answered once with what was wrong, and after that the proposal is
 * a failure: an outcome, which the run keeps and has paid for.
 */
#include "propose/model.h"
#include "propose/driver.h"

#include "base/str.h"
#include "propose/ask.h"
#include "propose/reply.h"

#include <string.h>

enum { MAX_TURNS = 2, MAX_MESSAGES = 8, QUOTED_REPLY_BYTES = 48 * 1024 };

/* One proposal on its way. */
struct session {
    struct asking asking;
    struct reply_scope scope;
    struct llm_message messages[MAX_MESSAGES];
    size_t message_count;
};

static bool same_text(const char *a, const char *b)
{
    return a && b ? str_equal(a, b) : a == b;
}

static bool same_model(const struct llm_opts *a, const struct llm_opts *b)
{
    return same_text(a->model, b->model) && same_text(a->base_url, b->base_url) &&
           same_text(a->dialect, b->dialect) && same_text(a->key_variable, b->key_variable) &&
           same_text(a->effort, b->effort) && a->max_output_tokens == b->max_output_tokens;
}

static bool open_role(const struct llm_opts *opts, struct role *role, struct arena *arena,
                      bool offline, struct err *err)
{
    if (!opts)
        return true;
    role->name = opts->model ? arena_strdup(arena, opts->model) : "";
    role->is_set = true;
    return offline || llm_open(opts, &role->llm, err);
}

void model_close(struct proposer *proposer)
{
    struct model_state *state = proposer->state;
    if (state->small.llm == state->large.llm)
        state->small.llm = NULL;
    llm_close(&state->small.llm);
    llm_close(&state->large.llm);
    llm_close(&state->summariser.llm);
    llm_close(&state->reranker.llm);
}

bool model_open(struct proposer *proposer, const struct proposer_opts *opts, struct err *err)
{
    struct model_state *state = proposer->state;
    const struct propose_models *models = opts->models;
    struct arena *arena = &proposer->arena;
    if (!models)
        BUG("propose: the llm proposer needs a model");
    state->moves = opts->moves;
    if (opts->moves &&
        !moves_catalogue(opts->moves, arena, &state->catalogue, &state->catalogue_count))
        state->catalogue_count = 0; /* no moves for this target: none can be named */
    bool ok = open_role(&models->large, &state->large, arena, models->offline, err);
    if (ok && same_model(&models->small, &models->large))
        state->small = state->large;
    else
        ok = ok && open_role(&models->small, &state->small, arena, models->offline, err);
    ok = ok && open_role(models->summariser, &state->summariser, arena, models->offline, err) &&
         open_role(models->reranker, &state->reranker, arena, models->offline, err);
    if (!ok)
        model_close(proposer);
    return ok;
}

static void say(struct session *s, struct llm_message message)
{
    if (message.text && message.text[0] != '\0')
        s->messages[s->message_count++] = message;
}

/* What changes least comes first, with marks where a prefix ends that will come again. */
static void say_prompt(struct session *s, const struct propose_prompt *prompt)
{
    say(s, (struct llm_message){.role = "system", .text = prompt->system});
    say(s, (struct llm_message){.role = "user", .text = prompt->facts, .cache = LLM_CACHE_LONG});
    say(s, (struct llm_message){.role = "user", .text = prompt->task, .cache = LLM_CACHE_SHORT});
    say(s,
        (struct llm_message){.role = "user", .text = prompt->experience, .cache = LLM_CACHE_SHORT});
    say(s, (struct llm_message){.role = "user", .text = prompt->now});
}

static const char *identity(const struct candidate *candidate, struct arena *arena)
{
    return candidate->recipe ? candidate->recipe
                             : arena_strdup(arena, candidate_id(candidate).text);
}

static bool was_judged(const struct session *s, const struct proposal *first,
                       const struct proposal *proposal)
{
    const char *id = identity(&proposal->candidate, s->asking.arena);
    if (propose_was_tried(s->asking.request, id))
        return true;
    for (const struct proposal *p = first; p != proposal; p = p->next) {
        if (!p->failure && str_equal(identity(&p->candidate, s->asking.arena), id))
            return true;
    }
    return false;
}

/* A copy of the list in which what was judged before is a failure; NULL where nothing is left that
 * could be judged, and nothing failed by itself. */
static struct proposal *drop_repeated(const struct session *s, const struct proposal *list)
{
    struct proposal *first = NULL;
    struct proposal *last = NULL;
    bool any = false;
    for (const struct proposal *p = list; p; p = p->next) {
        struct proposal *copy = arena_memdup(s->asking.arena, p, sizeof *p);
        copy->next = NULL;
        if (!p->failure && was_judged(s, list, p)) {
            copy->failure = "this very candidate was judged before";
            copy->is_well_formed = true;
            copy->candidate = (struct candidate){.source = ""};
        } else {
            any = true;
        }
        if (last)
            last->next = copy;
        first = first ? first : copy;
        last = copy;
    }
    return any ? first : NULL;
}

/* Worth reading, although the model's server did not hold it to the schema. */
static bool is_readable(const struct llm_reply *reply)
{
    return !reply->problem || (reply->is_repairable && !str_equal(reply->finish_reason, "length") &&
                               reply->text[0] != '\0');
}

/* NULL and filled proposals, or what is wrong with the reply. */
static const char *read_reply(const struct session *s, const struct llm_reply *reply,
                              struct proposal *out)
{
    struct proposal parsed = {0};
    if (!is_readable(reply))
        return reply->problem;
    const char *problem = reply_read(reply->text, &s->scope, s->asking.arena, &parsed);
    if (problem)
        return problem;
    const struct proposal *left = drop_repeated(s, &parsed);
    if (!left)
        return "this very candidate was judged before; propose a different one";
    *out = *left;
    return NULL;
}

static void ask_for_repair(struct session *s, const struct llm_reply *reply, const char *problem)
{
    struct arena *arena = s->asking.arena;
    const size_t length = strnlen(reply->text, QUOTED_REPLY_BYTES);
    /* Not in the middle of a character; and servers refuse an empty message. */
    size_t end = length;
    while (end > 0 && ((unsigned char)reply->text[end] & 0xc0) == 0x80)
        end--;
    say(s, (struct llm_message){.role = "assistant",
                                .text =
                                    end == 0 ? "(nothing)" : arena_strndup(arena, reply->text, end),
                                .thinking_json = reply->thinking_json});
    say(s, (struct llm_message){
               .role = "user",
               .text = arena_printf(arena,
                                    "Your reply cannot be used: %s. Answer again in full, with "
                                    "one JSON object as described, and nothing else.",
                                    problem)});
}

/* Turns until there are proposals or a reason why there are none; an error only where nothing has
 * been paid for yet, and where the record does not hold. */
static bool run_turns(struct session *s, struct proposal *out, const char **failure,
                      struct err *err)
{
    const char *problem = NULL;
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        struct llm_reply reply = {0};
        /* A source without the entry point is asked for once more, and then judged as it is: the
         * compiler's words teach later prompts more than a refusal would. */
        if (turn + 1 == MAX_TURNS)
            s->scope.task = NULL;
        if (!ask(&s->asking, turn == 0 ? "propose" : "repair", s->messages, s->message_count,
                 reply_schema(), &reply, err)) {
            const bool is_peer =
                err->kind == ERR_NETWORK || err->kind == ERR_BUDGET || err->kind == ERR_LIMIT;
            if (turn == 0 || !is_peer)
                return false;
            *failure = arena_printf(s->asking.arena, "malformed reply (%s), and no repair: %s",
                                    problem, err->message);
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
    *failure = arena_printf(s->asking.arena, "malformed reply twice: %s", problem);
    return true;
}

bool model_next(struct proposer *proposer, const struct propose_request *request,
                struct arena *arena, bool *exhausted, struct proposal *out, struct err *err)
{
    const struct model_state *state = proposer->state;
    const struct role *role = request->large_step ? &state->large : &state->small;
    struct session s = {
        .asking = {.llm = role->llm, .model = role->name, .request = request, .arena = arena},
        .scope = {.task = proposer->task,
                  .parent = request->parent,
                  .moves = state->moves,
                  .catalogue = state->catalogue,
                  .catalogue_count = state->catalogue_count},
    };
    const char *failure = NULL;
    if (!request->prompt)
        BUG("propose: the llm proposer needs a prompt");
    *exhausted = false; /* a model always has something to say */
    say_prompt(&s, request->prompt);
    if (!run_turns(&s, out, &failure, err))
        return false;
    if (failure)
        *out = (struct proposal){.candidate = {.source = ""}, .failure = failure};
    out->tokens_in = s.asking.tokens_in;
    out->tokens_out = s.asking.tokens_out;
    return true;
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
    .summarise = model_summarise,
    .rerank = model_rerank,
};

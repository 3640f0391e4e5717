/*
 * Roles that help with the context: a summariser shortens the path of a long run, a reranker orders
 * evidence. What they say is of use or is left out; it never ends a run.
 */
#include "propose/model.h"

#include "base/buf.h"
#include "base/str.h"
#include "propose/ask.h"
#include "json/json.h"

#include <string.h>

static const char summary_contract[] =
    "You keep the minutes of a search for a faster compute kernel. You get its outcomes, oldest "
    "first. Say in at most eight short lines what was tried, what helped and by how much, what "
    "failed and why, so that nobody tries it again. Numbers as given. No advice, nothing else.";

static const char rank_contract[] =
    "You order experience by its worth for making the given compute kernel faster. Answer with "
    "one JSON object: {\"order\": [...]} with the numbers of all items, most useful first.";

static const char rank_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"order\"],"
    "\"properties\":{\"order\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}}";

/* A peer that fails costs its help, not the run. */
static bool is_peers_fault(const struct err *err)
{
    return err->kind == ERR_NETWORK || err->kind == ERR_BUDGET || err->kind == ERR_LIMIT;
}

static bool ask_role(const struct role *role, const struct propose_request *request,
                     const char *name, const struct llm_message *messages, size_t count,
                     const char *schema, struct arena *arena, struct llm_reply *out,
                     struct err *err)
{
    struct asking asking = {
        .llm = role->llm, .model = role->name, .request = request, .arena = arena};
    return ask(&asking, name, messages, count, schema, out, err);
}

bool model_summarise(struct proposer *proposer, const struct propose_request *request,
                     const char *text, size_t limit_bytes, struct arena *arena, const char **out,
                     struct err *err)
{
    const struct model_state *state = proposer->state;
    struct llm_reply reply = {0};
    struct err problem = {0};
    if (!state->summariser.is_set)
        return true;
    const struct llm_message messages[] = {{.role = "system", .text = summary_contract},
                                           {.role = "user", .text = text}};
    if (!ask_role(&state->summariser, request, "summarise", messages, 2, NULL, arena, &reply,
                  &problem)) {
        if (!is_peers_fault(&problem))
            *err = problem;
        return is_peers_fault(&problem);
    }
    if (reply.problem)
        return true;
    size_t length = strnlen(reply.text, limit_bytes + 1);
    while (length > limit_bytes || (length > 0 && strchr(" \t\r\n", reply.text[length - 1])))
        length--;
    while (length > 0 && ((unsigned char)reply.text[length] & 0xc0) == 0x80)
        length--;
    *out = length > 0 ? arena_strndup(arena, reply.text, length) : NULL;
    return true;
}

/* A permutation of 0 .. count - 1, or nothing is taken. */
static void take_order(const struct json *list, size_t count, struct arena *arena, size_t *order)
{
    if (!list || list->type != JSON_ARRAY || list->count != count)
        return;
    size_t *given = arena_array(arena, count, sizeof *given);
    bool *is_named = arena_array(arena, count, sizeof *is_named);
    size_t i = 0;
    for (const struct json *item = list->first; item; item = item->next) {
        const int64_t number = json_int(item, 0);
        if (number < 1 || (uint64_t)number > count || is_named[number - 1])
            return;
        is_named[number - 1] = true;
        given[i++] = (size_t)number - 1;
    }
    memcpy(order, given, count * sizeof *order);
}

bool model_rerank(struct proposer *proposer, const struct propose_request *request,
                  const char *const *texts, size_t count, struct arena *arena, size_t *order,
                  struct err *err)
{
    const struct model_state *state = proposer->state;
    struct llm_reply reply = {0};
    struct err problem = {0};
    const struct json *json = NULL;
    if (!state->reranker.is_set)
        return true;
    CLEANUP(buf_free) struct buf list = {0};
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&list, "%zu: %s", i + 1, texts[i]);
    const struct llm_message messages[] = {
        {.role = "system", .text = rank_contract},
        {.role = "user", .text = request->prompt ? request->prompt->task : ""},
        {.role = "user", .text = buf_text(&list)}};
    if (!ask_role(&state->reranker, request, "rerank", messages, 3, rank_schema, arena, &reply,
                  &problem)) {
        if (!is_peers_fault(&problem))
            *err = problem;
        return is_peers_fault(&problem);
    }
    if (!reply.problem &&
        json_parse(reply.text, strlen(reply.text), "order", arena, &json, &problem))
        take_order(json_get(json, "order"), count, arena, order);
    return true;
}

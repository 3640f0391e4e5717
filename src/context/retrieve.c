#include "context/internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/tokens.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum {
    RELATED_LIMIT = 12,
    WALK_LIMIT = 12,
    LIKE_LIMIT = 24,
    FAILURE_LIMIT = 12,
    FEW = 8,
    KEY_BYTES = 24,
    LABEL_TOKENS = 5, /* of "E123 ", rounded up */
};

struct entry *entries_add(struct entries *entries, const char *section, const char *kind,
                          const char *ref, const char *text)
{
    if (entries->count == CONTEXT_MAX_ITEMS)
        return NULL;
    struct entry *entry = &entries->items[entries->count++];
    const size_t length = strlen(text);
    const bool is_labelled = str_equal(section, "warm");
    *entry = (struct entry){.text = text, .key = "", .beside = ""};
    entry->item = (struct context_item){.section = section,
                                        .kind = kind,
                                        .ref = ref,
                                        .bytes = (int64_t)length,
                                        .tokens = tokens_bound(text, length) +
                                                  (is_labelled ? LABEL_TOKENS : 0),
                                        .propensity = 1.0};
    return entry;
}

bool entry_has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* ---- Words. */

static const char *where_from(const struct context_request *request, const struct graph_decision *d)
{
    if (str_equal(d->task_id, request->task->id.text))
        return "this task";
    return str_equal(d->family, request->task->family) ? "same family" : "another family";
}

static const char *how_made(const struct graph_decision *d, struct arena *arena)
{
    if (d->moves[0] != '\0')
        return arena_printf(arena, "moves %s; flags %s", d->moves, d->flags);
    return arena_printf(arena, "%s; %s %s", d->intent, d->compiler, d->flags);
}

static double percent(double log_ratio)
{
    return 100.0 * exp(log_ratio);
}

static const char *what_followed(const struct graph_follow *follow, struct arena *arena)
{
    const bool by_moves = follow->moves[0] != '\0';
    return arena_printf(arena, "; then %s%.120s: %.2fx", by_moves ? "moves " : "",
                        by_moves ? follow->moves : follow->intent, exp(follow->gain));
}

static const char *render_timed(const struct context_request *request,
                                const struct graph_decision *d, const struct graph_follow *follow,
                                struct arena *arena)
{
    return arena_printf(
        arena, "- %s (%s, %s)%s: %s -> %.0f %% of the baseline's speed [%.0f, %.0f]%s%s%s\n",
        d->task_name, where_from(request, d),
        str_equal(d->target_id, request->target_id) ? "this machine" : "another machine",
        d->is_confirmed ? " confirmed" : "", how_made(d, arena), percent(d->log_ratio),
        percent(d->log_low), percent(d->log_high),
        d->has_gain && d->gain < -0.02
            ? arena_printf(arena, ", %.0f %% of its parent's", percent(d->gain))
            : "",
        d->confirm_failed ? "; measured again, it was no win" : "",
        follow ? what_followed(follow, arena) : "");
}

static const char *render_failed(const struct context_request *request,
                                 const struct graph_decision *d, struct arena *arena)
{
    return arena_printf(arena, "- avoid: %s (%s): %s -> %s (%s): %.300s\n", d->task_name,
                        where_from(request, d), how_made(d, arena), verdict_kind_name(d->kind),
                        d->mechanism, d->evidence);
}

static const char *render_cell(const struct graph_move_cell *cell, struct arena *arena)
{
    return arena_printf(arena, "%s %.2fx (%.0f tries)", cell->task_name,
                        exp(cell->sum / cell->count), cell->count);
}

/* A belief with what speaks for and against it. */
static const char *render_belief(const struct transfer_belief *b, struct arena *arena)
{
    return arena_printf(
        arena, "- move %s: %.2fx expected here [%.2f, %.2f], %.0f tries%s%s%s%s\n", b->move,
        exp(b->mean), exp(b->mean - 1.96 * b->sd), exp(b->mean + 1.96 * b->sd), b->evidence,
        b->best ? "; best on " : "", b->best ? render_cell(b->best, arena) : "",
        b->worst ? "; against it: " : "", b->worst ? render_cell(b->worst, arena) : "");
}

/* ---- Entries. */

static bool is_listed(const struct entries *entries, const char *ref)
{
    for (size_t i = 0; i < entries->count; i++) {
        if (str_equal(entries->items[i].item.ref, ref))
            return true;
    }
    return false;
}

static bool is_on_path(const struct context_request *request, const char *id)
{
    for (size_t i = 0; i < request->path_count; i++) {
        if (str_equal(request->path[i].id, id))
            return true;
    }
    return false;
}

/* What is being retrieved. */
struct retrieval {
    struct graph *graph;
    const struct context_request *request;
    const struct transfer *transfer;
    struct arena *arena;
    struct entries *out;
};

static bool add_decision(const struct retrieval *r, const struct graph_decision *d, struct err *err)
{
    struct arena *arena = r->arena;
    const char *kinds = "";
    struct graph_follow follow;
    bool is_followed = false;
    /* A host too noisy to measure teaches nothing about the candidate; the path stands in HOT. */
    if (!d->has_outcome || d->kind == VERDICT_TOO_NOISY || is_listed(r->out, d->id) ||
        is_on_path(r->request, d->id))
        return true;
    const bool failed = d->kind != VERDICT_TIMED;
    /* What was found for the candidate that the decision went on from. */
    if (r->request->finding_kinds && r->request->finding_kinds[0] != '\0' &&
        !graph_finding_kinds(r->graph, d->run_id, d->parent, arena, &kinds, err))
        return false;
    if (!failed &&
        !graph_followed(r->graph, d->id, d->log_ratio, arena, &is_followed, &follow, err))
        return false;
    const bool shows_next = is_followed && follow.gain > 0.02;
    const char *text = failed ? render_failed(r->request, d, arena)
                              : render_timed(r->request, d, shows_next ? &follow : NULL, arena);
    struct entry *entry = entries_add(r->out, "warm", failed ? "failure" : "decision", d->id, text);
    if (!entry)
        return true;
    entry->is_failure = failed;
    entry->has_lost = decision_lost(d);
    if (failed)
        entry->key = arena_printf(arena, "%s %.*s", d->mechanism, (int)KEY_BYTES, d->evidence);
    else
        entry->key = d->moves[0] != '\0' ? d->moves : d->intent;
    entry->item.score = score_decision(r->request, r->transfer, d, kinds);
    return true;
}

static bool add_all(const struct retrieval *r, const struct graph_decisions *list, struct err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!add_decision(r, &list->items[i], err))
            return false;
    }
    return true;
}

static void add_offer(const struct context_offer *offer, struct arena *arena, struct entries *out)
{
    const size_t length = strlen(offer->text);
    const bool is_ended = length != 0 && offer->text[length - 1] == '\n';
    struct entry *entry = entries_add(out, "warm", offer->kind, offer->ref,
                                      arena_printf(arena, "- %s %s: %s%s", offer->kind, offer->ref,
                                                   offer->text, is_ended ? "" : "\n"));
    if (!entry)
        return;
    entry->is_failure = str_equal(offer->kind, CONTEXT_RULE);
    entry->key = offer->ref;
    entry->item.score = offer->score;
}

/* What all decisions with a move say together, where they say anything. */
static void add_beliefs(const struct retrieval *r)
{
    for (size_t i = 0; i < r->transfer->belief_count; i++) {
        const struct transfer_belief *b = &r->transfer->beliefs[i];
        if (!b->best && !b->worst)
            continue;
        struct entry *entry =
            entries_add(r->out, "warm", "move", arena_printf(r->arena, "move:%s", b->move),
                        render_belief(b, r->arena));
        if (!entry)
            return;
        entry->key = b->move;
        entry->item.score = score_belief(b);
    }
}

/* What lost stands beside what it contradicts: the same step that won elsewhere. */
static void pair_contradictions(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        struct entry *lost = &entries->items[i];
        if (!lost->has_lost)
            continue;
        for (size_t k = 0; k < entries->count; k++) {
            struct entry *won = &entries->items[k];
            if (won->has_lost || won->is_failure || won->is_contradicted ||
                !str_equal(won->item.kind, "decision") || !str_equal(won->key, lost->key))
                continue;
            lost->item.kind = "contradiction";
            lost->beside = won->item.ref;
            won->is_contradicted = true;
            break;
        }
    }
}

/* Words to search by: the task, what limits it, and how its last attempts failed. */
static const char *words_of(const struct context_request *request, struct arena *arena)
{
    CLEANUP(buf_free) struct buf words = {0};
    (void)buf_printf(&words, "%s %s", request->task->name, request->task->summary);
    if (request->finding)
        (void)buf_printf(&words, " %s", request->finding);
    for (size_t i = request->path_count; i-- > 0 && i + 3 > request->path_count;)
        (void)buf_printf(&words, " %.200s %.200s", request->path[i].moves,
                         request->path[i].kind == VERDICT_TIMED ? "" : request->path[i].evidence);
    return arena_strdup(arena, buf_text(&words));
}

static bool search(const struct retrieval *r, const struct graph_near *near, size_t limit,
                   size_t *found, struct err *err)
{
    struct graph_decisions list;
    if (!graph_search_near(r->graph, near, limit, r->arena, &list, err))
        return false;
    *found = list.count;
    return add_all(r, &list, err);
}

static bool search_text(const struct retrieval *r, struct err *err)
{
    const char *family = r->request->task->family;
    const char *words = words_of(r->request, r->arena);
    size_t wins = 0;
    size_t failures = 0;
    if (!search(r, &(struct graph_near){words, family, false}, LIKE_LIMIT, &wins, err) ||
        !search(r, &(struct graph_near){words, family, true}, FAILURE_LIMIT, &failures, err))
        return false;
    /* Other families, where the own one has little to say. */
    if (wins < FEW && !search(r, &(struct graph_near){words, "", false}, FEW, &wins, err))
        return false;
    return failures >= FEW || search(r, &(struct graph_near){words, "", true}, FEW, &failures, err);
}

bool context_retrieve(struct graph *graph, const struct context_request *request,
                      const struct transfer *transfer, struct arena *arena, struct entries *out,
                      struct err *err)
{
    const struct retrieval r = {graph, request, transfer, arena, out};
    const char *recipe = request->current_recipe ? request->current_recipe : "";
    struct graph_decision best;
    struct graph_decisions list;
    bool found = false;
    for (size_t i = 0; i < request->offer_count; i++)
        add_offer(&request->offers[i], arena, out);
    add_beliefs(&r);
    if (!graph_best(graph, request->task->id.text, request->target_id, arena, &found, &best, err) ||
        (found && !add_decision(&r, &best, err)))
        return false;
    if (!graph_walk(graph, recipe, WALK_LIMIT, arena, &list, err) || !add_all(&r, &list, err))
        return false;
    if (!graph_related(graph, request->task->id.text, request->target_id, RELATED_LIMIT, arena,
                       &list, err) ||
        !add_all(&r, &list, err))
        return false;
    if (!search_text(&r, err))
        return false;
    pair_contradictions(out);
    return true;
}

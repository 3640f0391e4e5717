#include "context/internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/tokens.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { RELATED_LIMIT = 12, SEARCH_LIMIT = 40 };

struct entry *entries_add(struct entries *entries, const char *section, const char *kind,
                          const char *ref, const char *text)
{
    if (entries->count == CONTEXT_MAX_ITEMS)
        return NULL;
    struct entry *entry = &entries->items[entries->count++];
    const size_t length = strlen(text);
    *entry = (struct entry){.text = text, .diversity = ""};
    entry->item = (struct context_item){.section = section,
                                        .kind = kind,
                                        .ref = ref,
                                        .bytes = (int64_t)length,
                                        .tokens = tokens_bound(text, length),
                                        .propensity = 1.0};
    return entry;
}

/* How far experience from there carries to here: structure travels within a family, less between
 * families and machines. The weights are the first form of the learned discount. */
static double transfer_weight(const struct context_request *request, const struct graph_decision *d)
{
    double weight = 1.0;
    if (!str_equal(d->task_id, request->task->id.text))
        weight *= str_equal(d->family, request->task->family) ? 0.7 : 0.35;
    if (!str_equal(d->target_id, request->target_id))
        weight *= 0.6;
    return weight;
}

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

static const char *render_timed(const struct context_request *request,
                                const struct graph_decision *d, struct arena *arena)
{
    return arena_printf(
        arena, "- %s (%s, %s)%s: %s -> %.0f %% of the baseline's speed [%.0f, %.0f]%s\n",
        d->task_name, where_from(request, d),
        str_equal(d->target_id, request->target_id) ? "this machine" : "another machine",
        d->is_confirmed ? " confirmed" : "", how_made(d, arena), percent(d->log_ratio),
        percent(d->log_low), percent(d->log_high),
        d->gain < -0.02 ? arena_printf(arena, ", %.0f %% of its parent's", percent(d->gain)) : "");
}

static const char *render_failed(const struct context_request *request,
                                 const struct graph_decision *d, struct arena *arena)
{
    return arena_printf(arena, "- avoid: %s (%s): %s -> %s (%s): %.300s\n", d->task_name,
                        where_from(request, d), how_made(d, arena), verdict_kind_name(d->kind),
                        d->mechanism, d->evidence);
}

static bool is_listed(const struct entries *entries, const char *ref)
{
    for (size_t i = 0; i < entries->count; i++) {
        if (str_equal(entries->items[i].item.ref, ref))
            return true;
    }
    return false;
}

static void add_decision(const struct context_request *request, const struct graph_decision *d,
                         struct arena *arena, struct entries *out)
{
    /* A host too noisy to measure teaches nothing about the candidate. */
    if (!d->has_outcome || d->kind == VERDICT_TOO_NOISY || is_listed(out, d->id))
        return;
    const bool failed = d->kind != VERDICT_TIMED;
    const char *text = failed ? render_failed(request, d, arena) : render_timed(request, d, arena);
    struct entry *entry = entries_add(out, "warm", failed ? "failure" : "decision", d->id, text);
    if (!entry)
        return;
    entry->is_failure = failed;
    entry->diversity = d->moves[0] != '\0' ? d->moves : d->intent;
    /* Expected gain: the pessimistic end, shrunk by distance. What lost teaches too, by as much as
     * it lost. */
    const double gain = failed ? 0.3 : (d->log_low > 0.0 ? d->log_low : 0.5 * fabs(d->log_high));
    entry->item.score = gain * transfer_weight(request, d);
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
    entry->diversity = offer->ref;
    entry->item.score = offer->score;
}

/* Words of the task for text search: its name, family, dtype and what its reference calls. */
static const char *task_words(const struct task *task, struct arena *arena)
{
    return arena_printf(arena, "%s %s %s %s", task->name, task->family, task->summary,
                        dtype_name(task->dtype));
}

bool context_retrieve(struct graph *graph, const struct context_request *request,
                      struct arena *arena, struct entries *out, struct err *err)
{
    struct graph_decision best;
    bool found = false;
    for (size_t i = 0; i < request->offer_count; i++)
        add_offer(&request->offers[i], arena, out);
    if (!graph_best(graph, request->task->id.text, request->target_id, arena, &found, &best, err))
        return false;
    if (found)
        add_decision(request, &best, arena, out);
    struct graph_decisions list;
    if (!graph_related(graph, request->task->id.text, request->target_id, RELATED_LIMIT, arena,
                       &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        add_decision(request, &list.items[i], arena, out);
    if (!graph_search(graph, task_words(request->task, arena), SEARCH_LIMIT, arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        add_decision(request, &list.items[i], arena, out);
    return true;
}

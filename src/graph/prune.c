#include "graph/prune.h"
#include "graph/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct worth {
    struct hash_id id, parent, context, exchange;
    double value;
    bool is_pinned, is_pruned;
    int64_t bytes; /* of the records and bodies that would go with it */
};

/* An event that several decisions may name, and whether one of those stays. */
struct shared {
    struct hash_id id;
    bool is_named, is_kept;
};

struct plan {
    struct worth *items; /* sorted by id */
    size_t count, capacity;
    struct shared *shared; /* contexts and exchanges, sorted by id */
    size_t shared_count;
    struct journal *journal;
    int64_t bytes, pruned_bytes, pruned_events;
};

/* Reads every decision with its value. Views and sums: plain SQL, documented in prune.h. */
static const char worth_sql[] =
    "WITH shown AS MATERIALIZED (SELECT ref, count(*) AS n FROM context_item WHERE withheld = 0"
    " AND ref <> '' GROUP BY ref),"
    " pinned(id) AS MATERIALIZED (SELECT best_decision FROM run_end UNION SELECT start_decision"
    " FROM run UNION SELECT derived_from FROM decision UNION SELECT decision_id FROM skill_evidence"
    " UNION SELECT decision_id FROM (SELECT v.decision_id, row_number() OVER ("
    " PARTITION BY v.task_id, v.target_id ORDER BY v.is_confirmed DESC, v.pessimistic DESC,"
    " v.decision_id) AS place FROM decision_view v WHERE (v.is_win OR v.is_confirmed)"
    " AND NOT v.confirm_failed) WHERE place = 1),"
    " alike AS MATERIALIZED (SELECT coalesce(t.family, '') AS family, r.target_id, o.kind,"
    " o.mechanism, count(*) AS n FROM outcome o JOIN decision d ON d.decision_id = o.decision_id"
    " JOIN run r ON r.run_id = d.run_id LEFT JOIN task t ON t.task_id = r.task_id"
    " WHERE o.is_confirmation = 0 AND o.kind NOT IN ('timed', 'too-noisy')"
    " GROUP BY 1, 2, 3, 4)"
    " SELECT v.decision_id, v.parent, v.context_id, v.exchange_id, coalesce(p.id <> '', 0),"
    " coalesce(CASE WHEN v.kind = 'too-noisy' THEN 0.0 ELSE"
    " 4.0 * v.is_confirmed + 2.0 * (v.is_win AND NOT v.is_confirmed AND NOT v.confirm_failed)"
    " + coalesce((SELECT total(m.share / (c.timed + c.failures)) FROM decision_move m"
    " JOIN move_cell c ON c.task_id = v.task_id AND c.target_id = v.target_id AND c.move = m.move"
    " WHERE m.decision_id = v.decision_id AND c.timed + c.failures > 0), 0.0)"
    " + coalesce(1.0 / a.n, 0.0) END, 0.0) * v.has_outcome + 0.25 * coalesce(s.n, 0)"
    " FROM decision_view v LEFT JOIN pinned p ON p.id = v.decision_id"
    " LEFT JOIN shown s ON s.ref = v.decision_id"
    " LEFT JOIN alike a ON a.family = v.family AND a.target_id = v.target_id AND a.kind = v.kind"
    " AND a.mechanism = v.mechanism ORDER BY v.decision_id";

static bool read_worth(struct graph *graph, struct plan *plan, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, worth_sql, &query, err))
        return false;
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            return true;
        plan->items =
            vec_reserve_one(plan->items, plan->count, &plan->capacity, sizeof *plan->items);
        struct worth *worth = &plan->items[plan->count++];
        *worth = (struct worth){.id = take_id(&query)};
        worth->parent = take_id(&query);
        worth->context = take_id(&query);
        worth->exchange = take_id(&query);
        worth->is_pinned = take_bool(&query);
        worth->value = take_real(&query);
    }
}

/* Arrays of items that begin with their id. */
static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct hash_id *)a)->text, ((const struct hash_id *)b)->text);
}

static struct worth *find(const struct plan *plan, const char *id)
{
    struct hash_id wanted = {{0}};
    if (strlen(id) != HASH_ID_CHARS || plan->count == 0)
        return NULL;
    memcpy(wanted.text, id, HASH_ID_BYTES);
    return bsearch(&wanted, plan->items, plan->count, sizeof *plan->items, compare_ids);
}

static struct shared *find_shared(const struct plan *plan, const struct hash_id *id)
{
    return plan->shared_count == 0
               ? NULL
               : bsearch(id, plan->shared, plan->shared_count, sizeof *plan->shared, compare_ids);
}

/* Worth flows from a decision to its parent; the walk ends where nothing changes any more, so that
 * a ring of parents ends it too. */
static void flow_up(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct worth *from = &plan->items[i];
        for (struct worth *to = find(plan, from->parent.text); to;
             to = find(plan, to->parent.text)) {
            if ((to->value >= from->value) && (to->is_pinned || !from->is_pinned))
                break;
            to->value = fmax(to->value, from->value);
            to->is_pinned = to->is_pinned || from->is_pinned;
        }
    }
}

static void list_shared(struct plan *plan, struct arena *arena)
{
    struct shared *list = arena_array(arena, 2 * plan->count, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->items[i].context.text[0] != '\0')
            list[count++].id = plan->items[i].context;
        if (plan->items[i].exchange.text[0] != '\0')
            list[count++].id = plan->items[i].exchange;
    }
    if (count != 0)
        qsort(list, count, sizeof *list, compare_ids);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_ids(&list[i], &list[kept - 1]) != 0)
            list[kept++] = list[i];
    plan->shared = list;
    plan->shared_count = kept;
}

static void mark_shared(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct worth *worth = &plan->items[i];
        const struct hash_id *ids[] = {&worth->context, &worth->exchange};
        for (size_t j = 0; j < 2; j++) {
            struct shared *shared = find_shared(plan, ids[j]);
            if (shared)
                shared->is_kept = shared->is_kept || !worth->is_pruned;
        }
    }
}

/* The decision that an event goes with; NULL for what stays, and for what several may name. */
static struct worth *owner(const struct plan *plan, const struct event *event)
{
    if (str_equal(event->kind, EVENT_DECISION))
        return find(plan, event->id.text);
    if (str_equal(event->kind, EVENT_OUTCOME) || str_equal(event->kind, EVENT_FINDING))
        return find(plan, json_string(json_get(event->body, "decision_id"), ""));
    return NULL;
}

static int64_t body_bytes(const struct plan *plan, const struct event *event)
{
    int64_t bytes = 0;
    for (const struct json *field = event->body ? event->body->first : NULL; field;
         field = field->next)
        bytes += journal_store_size(plan->journal, event->kind, field);
    return bytes;
}

/* A body that several events name is counted for each: an upper bound. */
static bool weigh(void *context, const struct event *event, struct err *err)
{
    struct plan *plan = context;
    struct worth *worth = owner(plan, event);
    const int64_t bytes = (int64_t)event->text_length + body_bytes(plan, event);
    (void)err;
    plan->bytes += bytes;
    if (worth)
        worth->bytes += bytes;
    return true;
}

static bool is_pruned(void *context, const struct event *event)
{
    struct plan *plan = context;
    const struct worth *worth = owner(plan, event);
    const struct shared *shared = find_shared(plan, &event->id);
    return worth ? worth->is_pruned : shared && !shared->is_kept;
}

static bool count_pruned(void *context, const struct event *event, struct err *err)
{
    struct plan *plan = context;
    (void)err;
    if (is_pruned(plan, event)) {
        plan->pruned_events++;
        plan->pruned_bytes += (int64_t)event->text_length + body_bytes(plan, event);
    }
    return true;
}

static int compare_worth(const void *a, const void *b)
{
    const struct worth *x = *(struct worth *const *)a;
    const struct worth *y = *(struct worth *const *)b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : strcmp(x->id.text, y->id.text);
}

/* A child is never worth more than its parent, so children come first or with it; equal ones are
 * taken together, so that none is left without its parent. */
static void choose(struct plan *plan, const struct graph_prune_opts *opts, struct arena *arena,
                   struct graph_pruned *out)
{
    struct worth **order = arena_array(arena, plan->count, sizeof *order);
    int64_t left = plan->bytes;
    for (size_t i = 0; i < plan->count; i++)
        order[i] = &plan->items[i];
    if (plan->count != 0)
        qsort(order, plan->count, sizeof *order, compare_worth);
    double last = -1.0;
    for (size_t i = 0; i < plan->count; i++) {
        struct worth *worth = order[i];
        const bool fits = opts->keep_bytes == 0 || left <= opts->keep_bytes;
        const bool is_worth_it = opts->below <= 0.0 || worth->value >= opts->below;
        if (fits && is_worth_it && worth->value > last)
            break;
        if (worth->is_pinned)
            continue;
        worth->is_pruned = true;
        left -= worth->bytes;
        last = worth->value;
        out->highest = worth->value;
        out->pruned_decisions++;
    }
}

static bool carry_out(struct graph *graph, struct plan *plan, const struct graph_prune_opts *opts,
                      struct graph_pruned *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    int64_t applied = 0;
    if (opts->is_dry_run || out->pruned_decisions == 0)
        return journal_scan(plan->journal, count_pruned, plan, err);
    const char *reason = arena_printf(&scratch, "decisions worth at most %.6g", out->highest);
    return journal_scan(plan->journal, count_pruned, plan, err) &&
           journal_prune(plan->journal, reason, is_pruned, plan, &out->pruned_events,
                         &out->compacted, err) &&
           graph_catch_up(graph, plan->journal, &applied, err);
}

bool graph_prune(struct graph *graph, struct journal *journal, const struct graph_prune_opts *opts,
                 struct graph_pruned *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct plan plan = {.journal = journal};
    struct graph_pruned result = {0};
    if (opts->below <= 0.0 && opts->keep_bytes <= 0)
        return err_set(err, ERR_USAGE, "neither a value nor a size to prune by");
    bool ok = read_worth(graph, &plan, err) && journal_scan(journal, weigh, &plan, err);
    if (ok) {
        flow_up(&plan);
        list_shared(&plan, &scratch);
        choose(&plan, opts, &scratch, &result);
        mark_shared(&plan);
        ok = carry_out(graph, &plan, opts, &result, err);
    }
    result.decisions = (int64_t)plan.count;
    for (size_t i = 0; i < plan.count; i++)
        result.pinned += plan.items[i].is_pinned;
    result.bytes = plan.bytes;
    result.pruned_events = plan.pruned_events;
    result.pruned_bytes = plan.pruned_bytes;
    free(plan.items);
    if (ok)
        *out = result;
    return ok;
}

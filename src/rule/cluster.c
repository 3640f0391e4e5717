#include "rule/cluster.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Orders observations so that those of one candidate on one target stand together. */
struct sortable {
    const struct observation *of;
    size_t index;
};

static int by_candidate(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    const int order = strcmp(x->of->candidate, y->of->candidate);
    if (order != 0)
        return order;
    const int target = strcmp(x->of->target_id, y->of->target_id);
    return target != 0 ? target : (x->index > y->index) - (x->index < y->index);
}

static int by_key(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    const int order = strcmp(x->of->cause.key, y->of->cause.key);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static bool is_same_candidate(const struct observation *a, const struct observation *b)
{
    return str_equal(a->candidate, b->candidate) && str_equal(a->target_id, b->target_id);
}

/* Something was seen that may count: neither a rule's word nor the host's doing. */
static bool is_seen(const struct observation *o)
{
    return !o->is_cancelled && (o->is_built || o->cause.is_lesson);
}

/* What was seen of it: "" where it was built and nothing spoke against it. */
static const char *seen_key(const struct observation *o)
{
    return o->cause.is_lesson ? o->cause.key : "";
}

/* Candidates that were seen to end in two ways. */
static bool *find_flaky(const struct observation *all, size_t count, struct arena *arena)
{
    bool *flaky = arena_array(arena, count + 1, sizeof *flaky);
    struct sortable *order = arena_array(arena, count + 1, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct sortable){&all[i], i};
    qsort(order, count, sizeof *order, by_candidate);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        const struct observation *first = NULL;
        bool differs = false;
        for (end = begin; end < count && is_same_candidate(order[begin].of, order[end].of); end++) {
            if (!is_seen(order[end].of))
                continue;
            differs |= first && !str_equal(seen_key(first), seen_key(order[end].of));
            first = order[end].of;
        }
        for (size_t i = begin; i < end; i++)
            flaky[order[i].index] = differs;
    }
    return flaky;
}

static size_t count_candidates(const struct observation *all, const size_t *members, size_t count)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !str_equal(all[members[i]].candidate, all[members[k]].candidate);
        different += is_first;
    }
    return different;
}

static int by_size(const void *a, const void *b)
{
    const struct cluster *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->cause.key, y->cause.key);
}

static void fill_cluster(struct cluster *out, const struct observation *all,
                         const struct sortable *order, size_t count, const bool *flaky,
                         struct arena *arena)
{
    size_t *members = arena_array(arena, count + 1, sizeof *members);
    *out = (struct cluster){.cause = order[0].of->cause, .members = members};
    for (size_t i = 0; i < count; i++) {
        if (flaky[order[i].index])
            out->flaky++;
        else
            members[out->count++] = order[i].index;
    }
    out->candidates = count_candidates(all, members, out->count);
    out->makes_rule = out->cause.shows_at_build && out->count >= RULE_LEAST_OCCURRENCES &&
                      out->candidates >= RULE_LEAST_CANDIDATES;
}

struct clusters rule_cluster(const struct observation *all, size_t count, struct arena *arena)
{
    struct clusters out = {.items = arena_array(arena, count + 1, sizeof *out.items)};
    const bool *flaky = find_flaky(all, count, arena);
    struct sortable *order = arena_array(arena, count + 1, sizeof *order);
    size_t failures = 0;
    for (size_t i = 0; i < count; i++) {
        if (!all[i].is_cancelled && all[i].cause.is_lesson)
            order[failures++] = (struct sortable){&all[i], i};
        else if (!all[i].is_cancelled && !all[i].is_built)
            out.host_faults++;
    }
    qsort(order, failures, sizeof *order, by_key);
    for (size_t begin = 0, end = 0; begin < failures; begin = end) {
        for (end = begin + 1;
             end < failures && str_equal(order[end].of->cause.key, order[begin].of->cause.key);)
            end++;
        struct cluster *cluster = &out.items[out.count];
        fill_cluster(cluster, all, order + begin, end - begin, flaky, arena);
        out.flaky += cluster->flaky;
        out.count += cluster->count > 0;
    }
    qsort(out.items, out.count, sizeof *out.items, by_size);
    return out;
}

static bool fires_on_any(const char *predicate, const struct rule_source *const *sources,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rule_predicate_holds(predicate, sources[i]))
            return true;
    }
    return false;
}

const char *rule_find_predicate(const struct cause *cause, const struct rule_sample *samples,
                                size_t count, const struct rule_source *const *passed,
                                size_t passed_count, size_t *covered, struct arena *arena)
{
    const char *best = NULL, *predicate = NULL;
    *covered = 0;
    for (size_t n = 0;
         *covered < count &&
         (predicate = rule_predicate_propose(cause, samples, count, n, arena)) != NULL;
         n++) {
        size_t holds = 0;
        for (size_t i = 0; i < count; i++)
            holds += rule_predicate_holds(predicate, samples[i].source);
        if (holds > *covered && 2 * holds >= count &&
            !fires_on_any(predicate, passed, passed_count)) {
            best = predicate;
            *covered = holds;
        }
    }
    return best;
}

/*
 * Beam search: level by level, the best `width` candidates of a level are extended, and the best of
 * what they gave are the next beam (Lowerre, 1976). A level gets four candidates for each place of
 * the beam, shared evenly, so the single root starts as wide as any later level.
 *
 * Where the beam dies out, it begins again at the top twice as wide (iterative broadening, Ginsberg
 * and Harvey 1992): what was tried stays, only the places that are new are extended. So the whole
 * tree is covered in the end.
 */
#include "search/internal.h"

#include <stdlib.h>

enum { CHILDREN_PER_PLACE = 4 };
static const double large_share_below = 0.25;

struct ranked {
    int depth, node;
    double log_ratio;
};

/* By level, the best first, the older of equals first. */
static int by_level(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->log_ratio > y->log_ratio || x->log_ratio < y->log_ratio)
        return x->log_ratio > y->log_ratio ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static struct ranked *rank_valid(const struct search *search, size_t *count)
{
    struct ranked *ranked = calloc(search->count, sizeof *ranked);
    if (!ranked)
        BUG("out of memory");
    *count = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct tree_node *n = &search->nodes[i];
        if (n->shown.outcome.is_valid)
            ranked[(*count)++] = (struct ranked){n->depth, (int)i, n->shown.outcome.log_ratio};
    }
    qsort(ranked, *count, sizeof *ranked, by_level);
    return ranked;
}

static int children_of(const struct search *search, int node)
{
    return search->nodes[node].shown.child_count + search->nodes[node].pending;
}

/* The node of a beam that has had the fewest of its children; SEARCH_NO_NODE where all had theirs,
 * and `*waits` where some of these are on their way. */
static int fewest_children(const struct search *search, const struct ranked *beam, size_t size,
                           int64_t allowed, bool *waits)
{
    int chosen = SEARCH_NO_NODE;
    for (size_t i = 0; i < size; i++) {
        const int node = beam[i].node;
        *waits = *waits || search->nodes[node].pending > 0;
        if (tree_is_open(search, node) && children_of(search, node) < allowed &&
            (chosen == SEARCH_NO_NODE || children_of(search, node) < children_of(search, chosen)))
            chosen = node;
    }
    return chosen;
}

/* One descent with a beam of that width: the first level that is not done decides. */
static int descend(const struct search *search, const struct ranked *ranked, size_t count,
                   int64_t width, bool *waits)
{
    for (size_t from = 0; from < count && !*waits;) {
        size_t end = from;
        while (end < count && ranked[end].depth == ranked[from].depth)
            end++;
        const size_t size = (int64_t)(end - from) < width ? end - from : (size_t)width;
        const int64_t places = width * CHILDREN_PER_PLACE;
        const int64_t allowed = (places + (int64_t)size - 1) / (int64_t)size;
        const int node = fewest_children(search, ranked + from, size, allowed, waits);
        if (node != SEARCH_NO_NODE)
            return node;
        from = end;
    }
    return SEARCH_NO_NODE;
}

static bool beam_choose(const struct search *search, struct rng *rng, int *node,
                        enum search_step *step)
{
    bool waits = false;
    size_t count = 0;
    struct ranked *ranked = rank_valid(search, &count);
    int chosen = SEARCH_NO_NODE;
    int64_t width = search->beam_width;
    while (chosen == SEARCH_NO_NODE && !waits) {
        chosen = descend(search, ranked, count, width, &waits);
        if (width > (int64_t)count) /* every valid node has had its share: any that is open */
            break;
        width *= 2;
    }
    if (chosen == SEARCH_NO_NODE && !waits)
        chosen = fewest_children(search, ranked, count, INT64_MAX, &waits);
    free(ranked);
    if (chosen == SEARCH_NO_NODE)
        return false;
    *node = chosen;
    *step = chosen == SEARCH_ROOT || rng_uniform(rng) < large_share_below ? STEP_LARGE : STEP_SMALL;
    return true;
}

const struct search_policy search_policy_beam = {
    .name = "beam",
    .summary = "level by level from the best of each; beam:8 is eight wide, 3 is usual",
    .takes_width = true,
    .choose = beam_choose,
};

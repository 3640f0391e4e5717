/*
 * Two step sizes (AdaExplore): small refinements around one structure alternate with large steps to
 * another.
 *
 * A large step, the baseline or a remembered candidate is the head of an episode; what small steps
 * make of it belongs to the episode of its nearest large ancestor. With probability 0.25 a step is
 * large, from a head drawn by its gain. Else it is small, from the candidate that promises most:
 * its gain, and a bonus for episodes that had few candidates. No candidate has more than two small
 * children, so that an episode goes on instead of circling one point.
 */
#include "search/internal.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_SMALL_CHILDREN = 2 };
static const double large_share = 0.25;
static const double novelty = 0.5;
/* Heads are drawn with chances e^(gain / (temperature x best gain)). */
static const double temperature = 0.5;

/* By node: its episode's head, and how many candidates an episode has had, those on their way
 * included. */
struct episodes {
    int *head;
    int64_t *size;
};

static bool is_head(const struct search *search, int node)
{
    return search->nodes[node].shown.outcome.step != STEP_SMALL;
}

static struct episodes find_episodes(const struct search *search)
{
    struct episodes e = {.head = calloc(search->count, sizeof *e.head),
                         .size = calloc(search->count, sizeof *e.size)};
    if (!e.head || !e.size)
        BUG("out of memory");
    for (size_t i = 0; i < search->count; i++) {
        const struct tree_node *n = &search->nodes[i];
        e.head[i] = is_head(search, (int)i) ? (int)i : e.head[n->shown.parent];
        e.size[e.head[i]] += 1 + n->small_pending;
    }
    return e;
}

static double scaled_gain(const struct search *search, int node)
{
    const double best = tree_best_log_ratio(search);
    return best > 0 ? search->nodes[node].shown.outcome.log_ratio / best : 0;
}

static int choose_small(const struct search *search)
{
    struct episodes e = find_episodes(search);
    const double all = log(1 + (double)search->count);
    int chosen = SEARCH_NO_NODE;
    double highest = 0;
    for (size_t i = 1; i < search->count; i++) {
        const struct tree_node *n = &search->nodes[i];
        if (!tree_is_open(search, (int)i) ||
            n->small_children + n->small_pending >= MAX_SMALL_CHILDREN)
            continue;
        const double promise =
            scaled_gain(search, (int)i) + novelty * sqrt(all / (double)e.size[e.head[i]]);
        if (chosen == SEARCH_NO_NODE || promise > highest) {
            chosen = (int)i;
            highest = promise;
        }
    }
    free(e.head);
    free(e.size);
    return chosen;
}

static int choose_head(const struct search *search, struct rng *rng)
{
    int chosen = SEARCH_NO_NODE;
    double highest = 0;
    for (size_t i = 0; i < search->count; i++) {
        const double weight = exp(fmax(-20.0, scaled_gain(search, (int)i) / temperature));
        const double key = tree_draw_key(rng, weight);
        if (!tree_is_open(search, (int)i) || !is_head(search, (int)i) ||
            (chosen != SEARCH_NO_NODE && key <= highest))
            continue;
        chosen = (int)i;
        highest = key;
    }
    return chosen;
}

/* The best that can still be extended, whoever made it. */
static int best_open(const struct search *search)
{
    int chosen = SEARCH_NO_NODE;
    for (size_t i = 0; i < search->count; i++) {
        if (tree_is_open(search, (int)i) &&
            (chosen == SEARCH_NO_NODE || search->nodes[i].shown.outcome.log_ratio >
                                             search->nodes[chosen].shown.outcome.log_ratio))
            chosen = (int)i;
    }
    return chosen;
}

static bool adaptive_choose(const struct search *search, struct rng *rng, int *node,
                            enum search_step *step)
{
    const bool wants_large = rng_uniform(rng) < large_share;
    const int head = choose_head(search, rng);
    const int small = wants_large && head != SEARCH_NO_NODE ? SEARCH_NO_NODE : choose_small(search);
    *step = small != SEARCH_NO_NODE ? STEP_SMALL : STEP_LARGE;
    *node = small != SEARCH_NO_NODE ? small : head != SEARCH_NO_NODE ? head : best_open(search);
    return *node != SEARCH_NO_NODE;
}

const struct search_policy search_policy_adaptive = {
    .name = "adaptive",
    .summary = "small steps around one structure, now and then a large one to another",
    .choose = adaptive_choose,
};

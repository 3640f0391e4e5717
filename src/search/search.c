#include "search/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLICY_COUNT = 6, DEFAULT_BEAM_WIDTH = 3, MAX_BEAM_WIDTH = 1000 };

/* In the order in which help names them; the first is the default. */
static const struct search_policy *const policies[POLICY_COUNT] = {
    &search_policy_mcts, &search_policy_resample, &search_policy_adaptive,
    &search_policy_beam, &search_policy_greedy,   &search_policy_random,
};

static bool unknown_policy(const char *text, struct err *err)
{
    char names[128] = "";
    for (size_t i = 0, at = 0; i < POLICY_COUNT; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i > 0 ? ", " : "",
                               policies[i]->name);
    (void)err_set(err, ERR_USAGE, "no search policy is named '%s'", text);
    return err_hint(err, "choose one of %s", names);
}

/* "NAME" or "NAME:WIDTH". */
static bool find_policy(const char *text, const struct search_policy **out, int64_t *width,
                        struct err *err)
{
    const size_t length = strcspn(text, ":");
    const struct search_policy *found = NULL;
    *width = DEFAULT_BEAM_WIDTH;
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        if (strlen(policies[i]->name) == length && strncmp(policies[i]->name, text, length) == 0)
            found = policies[i];
    }
    if (!found)
        return unknown_policy(text, err);
    *out = found;
    if (text[length] == '\0')
        return true;
    if (!found->takes_width)
        return err_set(err, ERR_USAGE, "search policy '%s' takes no number", found->name);
    if (str_parse_int64(text + length + 1, width) && *width >= 1 && *width <= MAX_BEAM_WIDTH)
        return true;
    return err_set(err, ERR_USAGE, "'%s': the width of a %s is a number from 1 to %d", text,
                   found->name, MAX_BEAM_WIDTH);
}

bool search_check_policy(const char *policy, struct err *err)
{
    const struct search_policy *found = NULL;
    int64_t width = 0;
    return find_policy(policy, &found, &width, err);
}

static int add_node(struct search *search, int parent, const struct search_outcome *outcome)
{
    search->nodes =
        vec_reserve_one(search->nodes, search->count, &search->capacity, sizeof *search->nodes);
    const int node = (int)search->count++;
    search->nodes[node] = (struct tree_node){
        .shown = {.parent = parent, .outcome = *outcome},
        .first_child = SEARCH_NO_NODE,
        .last_child = SEARCH_NO_NODE,
        .next_sibling = SEARCH_NO_NODE,
        .is_exhausted = outcome->is_dead_end || !outcome->is_valid,
    };
    search->nodes[node].is_closed = search->nodes[node].is_exhausted;
    if (outcome->is_valid)
        search->nodes[node].shown.best_below = outcome->log_ratio;
    if (parent != SEARCH_NO_NODE) {
        struct tree_node *p = &search->nodes[parent];
        if (p->last_child == SEARCH_NO_NODE)
            p->first_child = node;
        else
            search->nodes[p->last_child].next_sibling = node;
        p->last_child = node;
        p->shown.child_count++;
        p->small_children += outcome->step == STEP_SMALL;
        search->nodes[node].depth = p->depth + 1;
    }
    return node;
}

bool search_open(const struct search_opts *opts, struct search **out, struct err *err)
{
    const struct search_policy *policy = NULL;
    int64_t width = 0;
    if (!find_policy(opts->policy ? opts->policy : policies[0]->name, &policy, &width, err))
        return false;
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        BUG("out of memory");
    search->policy = policy;
    search->beam_width = width;
    search->opts = *opts;
    if (!(search->opts.exploration > 0))
        search->opts.exploration = 0.03;
    search->opts.policy = policy->name;
    search->best = SEARCH_ROOT;
    (void)add_node(search, SEARCH_NO_NODE,
                   &(struct search_outcome){.is_valid = true, .step = STEP_GIVEN});
    *out = search;
    return true;
}

void search_close(struct search **search)
{
    if (!*search)
        return;
    free((*search)->nodes);
    free(*search);
    *search = NULL;
}

bool tree_is_open(const struct search *search, int node)
{
    return !search->nodes[node].is_exhausted;
}

double tree_best_log_ratio(const struct search *search)
{
    return fmax(0.0, search->nodes[search->best].shown.outcome.log_ratio);
}

double tree_draw_key(struct rng *rng, double weight)
{
    const double u = fmax(rng_uniform(rng), 1e-300);
    return log(weight) - log(-log(u)); /* log(0) is minus infinity */
}

/* A node is closed when it is exhausted, nothing is on its way below it, and all its children are
 * closed. */
static void close_upward(struct search *search, int node)
{
    for (; node != SEARCH_NO_NODE; node = search->nodes[node].shown.parent) {
        struct tree_node *n = &search->nodes[node];
        if (!n->is_exhausted || n->shown.in_flight > 0)
            return;
        for (int c = n->first_child; c != SEARCH_NO_NODE; c = search->nodes[c].next_sibling)
            if (!search->nodes[c].is_closed)
                return;
        n->is_closed = true;
    }
}

/* One evaluation from `node` is announced (+1) or has come back (-1); seen on the whole path to the
 * root. */
static void count_in_flight(struct search *search, int node, enum search_step step, int change)
{
    struct tree_node *n = &search->nodes[node];
    n->pending += change;
    if (step == STEP_SMALL && n->small_pending + change >= 0)
        n->small_pending += change;
    search->in_flight += change;
    for (int at = node; at != SEARCH_NO_NODE; at = search->nodes[at].shown.parent)
        search->nodes[at].shown.in_flight += change;
}

/*
 * The generator of one choice. It depends on the seed and on what was told, not on how often the
 * caller asked, so that a resumed run, which only tells, chooses alike.
 */
static struct rng choice_rng(const struct search *search)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u; /* odd, so distinct counts give distinct seeds */
    return rng_seeded(search->opts.seed ^ golden * (2 * (uint64_t)search->told + 1 +
                                                    0x100000000u * (uint64_t)search->in_flight));
}

bool search_next(struct search *search, int *node, enum search_step *step)
{
    if (search->end_reason[0])
        return false;
    if (search->nodes[SEARCH_ROOT].is_closed) {
        (void)snprintf(search->end_reason, sizeof search->end_reason,
                       "nothing is left to try after %lld candidates", (long long)search->told);
        return false;
    }
    if (search->opts.stagnation > 0 && search->since_best >= search->opts.stagnation) {
        (void)snprintf(search->end_reason, sizeof search->end_reason,
                       "stagnation: %lld candidates without a better one",
                       (long long)search->since_best);
        return false;
    }
    struct rng rng = choice_rng(search);
    if (!search->policy->choose(search, &rng, node, step))
        return false;
    assert(tree_is_open(search, *node));
    count_in_flight(search, *node, *step, +1);
    return true;
}

/* What each kind of step has brought so far. */
static void count_step(struct search *search, int parent, const struct search_outcome *told)
{
    if (told->step == STEP_GIVEN)
        return;
    search->step_count[told->step]++;
    if (told->is_valid)
        search->step_gain[told->step] +=
            fmax(0.0, told->log_ratio - search->nodes[parent].shown.outcome.log_ratio);
}

int search_tell(struct search *search, int parent, const struct search_outcome *outcome)
{
    if (parent < 0 || (size_t)parent >= search->count)
        BUG("search: no node %d", parent);
    struct search_outcome told = *outcome;
    if (!isfinite(told.log_ratio))
        told.is_valid = false;
    if (search->nodes[parent].pending > 0)
        count_in_flight(search, parent, told.step, -1);
    const int node = add_node(search, parent, &told);
    count_step(search, parent, &told);
    search->told++;
    search->since_best++;
    for (int at = node; at != SEARCH_NO_NODE; at = search->nodes[at].shown.parent) {
        struct tree_node *n = &search->nodes[at];
        n->shown.visits++;
        if (!told.is_valid)
            continue;
        n->reward_sum += told.log_ratio;
        n->shown.best_below = fmax(n->shown.best_below, told.log_ratio);
    }
    if (told.is_valid && told.log_ratio > search->nodes[search->best].shown.outcome.log_ratio) {
        search->best = node;
        search->since_best = 0;
    }
    close_upward(search, search->nodes[node].is_closed ? parent : node);
    return node;
}

void search_tell_exhausted(struct search *search, int node)
{
    if (node < 0 || (size_t)node >= search->count)
        BUG("search: no node %d", node);
    if (search->nodes[node].pending > 0)
        count_in_flight(search, node, STEP_LARGE, -1); /* it is never asked again */
    search->nodes[node].is_exhausted = true;
    close_upward(search, node);
}

int search_best(const struct search *search)
{
    return search->best;
}

size_t search_node_count(const struct search *search)
{
    return search->count;
}

const struct search_node *search_node(const struct search *search, int node)
{
    if (node < 0 || (size_t)node >= search->count)
        return NULL;
    return &search->nodes[node].shown;
}

const char *search_end_reason(const struct search *search)
{
    return search->end_reason;
}

size_t search_policies(const char **names, const char **summaries, size_t capacity)
{
    for (size_t i = 0; i < POLICY_COUNT && i < capacity; i++) {
        names[i] = policies[i]->name;
        summaries[i] = policies[i]->summary;
    }
    return POLICY_COUNT;
}

bool search_run(struct search *search, const struct search_evaluator *evaluator, int64_t budget)
{
    int node = SEARCH_ROOT;
    enum search_step step = STEP_SMALL;
    while (search->told < budget && search_next(search, &node, &step)) {
        if (evaluator->can_extend && !evaluator->can_extend(evaluator->context, node)) {
            search_tell_exhausted(search, node);
            continue;
        }
        struct search_outcome outcome = {0};
        if (!evaluator->evaluate(evaluator->context, node, step, &outcome)) {
            count_in_flight(search, node, step, -1);
            return false;
        }
        outcome.step = step;
        (void)search_tell(search, node, &outcome);
    }
    return true;
}

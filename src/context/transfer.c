#include "context/transfer.h"

#include "base/str.h"
#include "base/vec.h"
#include "stats/hierarchy.h"

#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_LEVEL, REGIME_LEVEL, TASK_LEVEL, LEVELS };
/* Two machines of unknown measures differ by so much. */
#define UNKNOWN_DISTANCE 1.0
/* A guess counts as so many comparisons, and the spread of a move's gains as so many of them. */
#define PRIOR_COMPARISONS 4.0
#define PRIOR_GAINS 2.0
#define PRIOR_TRIALS 2.0
/* Equal gains are still those of a machine that measures to about a percent. */
#define LEAST_SPREAD 0.01
/* A cell says something where it is so many standard errors from no effect. */
#define CLEAR_EFFECT 2.0
enum { MAX_PAIRS = 4096, NEIGHBOURS = 8 };

static const char *const knowledge_names[] = {
    [KNOWLEDGE_STRUCTURE] = "structure",
    [KNOWLEDGE_SIZES] = "sizes",
    [KNOWLEDGE_FLAGS] = "flags",
};

const char *knowledge_name(enum knowledge kind)
{
    return knowledge_names[kind];
}

/* Before any experience, as standard deviations in log-ratio: a guess, and where it comes from
 * stands in docs/decisions/0030. */
static const struct {
    double family, regime, task, machine;
} priors[] = {
    [KNOWLEDGE_STRUCTURE] = {0.25, 0.10, 0.15, 0.15},
    [KNOWLEDGE_SIZES] = {0.15, 0.15, 0.15, 0.30},
    [KNOWLEDGE_FLAGS] = {0.10, 0.05, 0.10, 0.15},
};

/* Texts of cells are mostly one and the same where they are equal. */
static bool same(const char *a, const char *b)
{
    return a == b || str_equal(a, b);
}

/* Is it this text? Neighbours in a list of cells ask about the same one. */
struct asked {
    const char *text, *last;
    bool was;
};

static bool is_it(struct asked *asked, const char *text)
{
    if (text != asked->last) {
        asked->last = text;
        asked->was = str_equal(asked->text, text);
    }
    return asked->was;
}

static int by_target_id(const void *key, const void *target)
{
    return strcmp(key, ((const struct graph_target *)target)->id);
}

static const struct graph_target *find_target(const struct transfer *transfer, const char *id)
{
    return transfer->target_count == 0 ? NULL
                                       : bsearch(id, transfer->targets, transfer->target_count,
                                                 sizeof *transfer->targets, by_target_id);
}

static double log_ratio_squared(double a, double b)
{
    const double ratio = a > 0.0 && b > 0.0 ? log(a / b) : 0.0;
    return ratio * ratio;
}

static double distance(const struct transfer *transfer, const char *a_id, const char *b_id)
{
    if (str_equal(a_id, b_id))
        return 0.0;
    const struct graph_target *a = find_target(transfer, a_id);
    const struct graph_target *b = find_target(transfer, b_id);
    if (!a || !b)
        return UNKNOWN_DISTANCE;
    const double squares = log_ratio_squared(a->peak_gflops_f32, b->peak_gflops_f32) +
                           log_ratio_squared(a->memory_gbs, b->memory_gbs) +
                           log_ratio_squared((double)a->vector_bytes, (double)b->vector_bytes) +
                           (str_equal(a->arch, b->arch) ? 0.0 : 1.0);
    return sqrt(squares);
}

/* Distances from here that were worked out; texts of cells are the same where they are equal. */
enum { MAX_FAR = 64 };
struct distances {
    const char *ids[MAX_FAR];
    double far[MAX_FAR];
    size_t count;
};

static double distance_from_here(const struct transfer *transfer, struct distances *known,
                                 const char *target_id)
{
    for (size_t i = 0; i < known->count; i++) {
        if (known->ids[i] == target_id)
            return known->far[i];
    }
    const double far = transfer_distance(transfer, target_id);
    if (known->count < MAX_FAR) {
        known->ids[known->count] = target_id;
        known->far[known->count++] = far;
    }
    return far;
}

double transfer_distance(const struct transfer *transfer, const char *target_id)
{
    return distance(transfer, transfer->here.target_id, target_id);
}

double transfer_variance(const struct transfer *transfer, enum knowledge kind,
                         const struct transfer_place *there)
{
    const struct transfer_discount *d = &transfer->discounts[kind];
    const double far = transfer_distance(transfer, there->target_id);
    double variance = d->machine * far * far;
    /* Two groups that hang on one differ by twice the variance of each. */
    if (!str_equal(there->task_id, transfer->here.task_id)) {
        variance += 2.0 * d->task;
        if (!str_equal(there->family, transfer->here.family))
            variance += 2.0 * (d->family + d->regime);
        else if (!str_equal(there->regime, transfer->here.regime))
            variance += 2.0 * d->regime;
    }
    return variance;
}

const struct transfer_belief *transfer_find(const struct transfer *transfer, const char *move)
{
    for (size_t i = 0; i < transfer->belief_count; i++) {
        if (str_equal(transfer->beliefs[i].move, move))
            return &transfer->beliefs[i];
    }
    return NULL;
}

/* The cells of one move, which stand together. */
struct cells {
    const struct graph_move_cell *items;
    size_t count;
};

static struct cells cells_of(struct cells all, const char *move)
{
    size_t low = 0;
    for (size_t high = all.count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(all.items[middle].move, move) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct cells out = {all.items + low, 0};
    if (low == all.count || !str_equal(out.items[0].move, move))
        return out;
    for (out.count = 1; low + out.count < all.count &&
                        same(out.items[out.count].move, out.items[out.count - 1].move);)
        out.count++;
    return out;
}

/* What is known of a move: all of it, or what its family knows, whose cells stand together. */
static struct cells cells_for(struct cells all, const struct transfer_move *move,
                              const struct transfer_place *here)
{
    struct cells out = cells_of(all, move->name);
    while (move->own_family && out.count > 0 && !same(out.items[0].family, here->family)) {
        out.items++;
        out.count--;
    }
    while (move->own_family && out.count > 0 &&
           !same(out.items[out.count - 1].family, here->family))
        out.count--;
    return out;
}

static double prior_sd(double prior_log_ratio)
{
    return 0.15 + 0.4 * fabs(prior_log_ratio);
}

/* How much a move's gains differ within a cell, over all of its cells. */
static double spread_of(struct cells cells, double prior_log_ratio)
{
    const double prior = prior_sd(prior_log_ratio);
    double squares = PRIOR_GAINS * prior * prior;
    double freedom = PRIOR_GAINS;
    for (size_t i = 0; i < cells.count; i++) {
        const struct graph_move_cell *c = &cells.items[i];
        if (c->count < 2.0)
            continue;
        squares += fmax(c->sum_squares - c->sum * c->sum / c->count, 0.0);
        freedom += c->count - 1.0;
    }
    return fmax(sqrt(squares / freedom), LEAST_SPREAD);
}

/* Variance of the mean of a cell's gains; their spread is drawn towards that of other cells. */
static double cell_variance(const struct graph_move_cell *cell, double spread)
{
    const double mean = cell->sum / cell->count;
    const double squares = fmax(cell->sum_squares - cell->sum * mean, 0.0);
    const double variance =
        (PRIOR_GAINS * spread * spread + squares) / (PRIOR_GAINS + cell->count - 1.0);
    return variance / cell->count;
}

/* The trees of the moves of one kind. */
struct forest {
    struct stats_group *groups;
    size_t count, capacity;
};

static void forest_free(struct forest *forest)
{
    free(forest->groups);
}

static size_t add_group(struct forest *forest, size_t parent)
{
    forest->groups =
        vec_reserve_one(forest->groups, forest->count, &forest->capacity, sizeof *forest->groups);
    forest->groups[forest->count] = (struct stats_group){.parent = parent};
    return forest->count++;
}

static size_t group_or_new(struct forest *forest, size_t group, size_t parent)
{
    return group != 0 ? group : add_group(forest, parent);
}

/* Where we are in the tree of a move. */
struct leaf {
    size_t family, task;
};

/* Hangs the cells of a move into its tree, and the place where we are. */
static void grow_tree(struct forest *forest, struct cells cells, const struct transfer *transfer,
                      const struct transfer_move *move, struct leaf *place)
{
    const struct transfer_place *here = &transfer->here;
    const double prior = prior_sd(move->prior_log_ratio);
    const double spread = spread_of(cells, move->prior_log_ratio);
    const size_t root = add_group(forest, forest->count);
    size_t family = root;
    size_t regime = root;
    size_t task = root;
    size_t here_family = 0;
    size_t here_regime = 0;
    size_t here_task = 0;
    const struct graph_move_cell *last = NULL;
    struct distances known = {.count = 0};
    struct asked is_family = {.text = here->family};
    struct asked is_regime = {.text = here->regime};
    struct asked is_task = {.text = here->task_id};
    for (size_t i = 0; i < cells.count; i++) {
        const struct graph_move_cell *c = &cells.items[i];
        const bool new_family = !last || !same(last->family, c->family);
        const bool new_regime = new_family || !same(last->regime, c->regime);
        if (new_family)
            family = add_group(forest, root);
        if (new_regime)
            regime = add_group(forest, family);
        if (new_regime || !same(last->task_id, c->task_id))
            task = add_group(forest, regime);
        last = c;
        if (is_it(&is_family, c->family)) {
            here_family = family;
            here_regime = is_it(&is_regime, c->regime) ? regime : here_regime;
        }
        here_task = is_it(&is_task, c->task_id) ? task : here_task;
        const double far = distance_from_here(transfer, &known, c->target_id);
        if (c->count > 0.0)
            stats_group_see(&forest->groups[task], c->sum / c->count,
                            cell_variance(c, spread) +
                                transfer->discounts[move->kind].machine * far * far);
    }
    place->family = group_or_new(forest, here_family, root);
    if (move->kind != KNOWLEDGE_STRUCTURE)
        stats_group_see(&forest->groups[root], move->prior_log_ratio, prior * prior);
    here_regime = group_or_new(forest, here_regime, place->family);
    place->task = group_or_new(forest, here_task, here_regime);
}

/* How far two machines are from each other, by their texts: the same pairs come again and again. */
enum { KNOWN_PAIRS = 256 };
struct known_pair {
    const char *a, *b;
    double far;
};

static double distance_of(const struct transfer *transfer, struct known_pair known[KNOWN_PAIRS],
                          const char *a, const char *b)
{
    struct known_pair *pair =
        &known[((uintptr_t)a / alignof(max_align_t) * 31 + (uintptr_t)b / alignof(max_align_t)) %
               KNOWN_PAIRS];
    if (pair->a != a || pair->b != b)
        *pair = (struct known_pair){a, b, distance(transfer, a, b)};
    return pair->far;
}

struct pairs {
    struct known_pair known[KNOWN_PAIRS];
    double differences[MAX_PAIRS], variances[MAX_PAIRS], distances[MAX_PAIRS];
    size_t count;
};

/* The same move on the same task on two machines. */
static void add_pairs(struct pairs *pairs, struct cells cells, const struct transfer *transfer,
                      double prior_log_ratio)
{
    const double spread = spread_of(cells, prior_log_ratio);
    for (size_t i = 0; i < cells.count; i++) {
        const struct graph_move_cell *a = &cells.items[i];
        for (size_t j = i + 1; j < cells.count && j <= i + NEIGHBOURS; j++) {
            const struct graph_move_cell *b = &cells.items[j];
            if (!same(a->task_id, b->task_id) || pairs->count == MAX_PAIRS)
                break;
            if (a->count < 1.0 || b->count < 1.0)
                continue;
            pairs->differences[pairs->count] = a->sum / a->count - b->sum / b->count;
            pairs->variances[pairs->count] = cell_variance(a, spread) + cell_variance(b, spread);
            pairs->distances[pairs->count] =
                distance_of(transfer, pairs->known, a->target_id, b->target_id);
            pairs->count++;
        }
    }
}

static void learn_machines(struct transfer *transfer, const struct transfer_move *moves,
                           size_t count, struct cells cells, enum knowledge kind,
                           struct arena *arena)
{
    struct pairs *pairs = arena_alloc(arena, sizeof *pairs);
    pairs->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (moves[i].kind == kind)
            add_pairs(pairs, cells_of(cells, moves[i].name), transfer, moves[i].prior_log_ratio);
    }
    transfer->discounts[kind].machines = pairs->count;
    transfer->discounts[kind].machine = stats_distance_variance(
        pairs->differences, pairs->variances, pairs->distances, pairs->count,
        priors[kind].machine * priors[kind].machine, PRIOR_COMPARISONS);
}

/* Decisions in the narrowest scope that has any, and how many of them fail. */
static void count_failures(struct cells cells, const struct transfer *transfer,
                           struct transfer_belief *belief)
{
    enum { SCOPE_ANY, SCOPE_FAMILY_ANY, SCOPE_FAMILY_HERE, SCOPE_HERE, SCOPES };
    double failures[SCOPES] = {0};
    double trials[SCOPES] = {0};
    struct asked is_family = {.text = transfer->here.family};
    struct asked is_task = {.text = transfer->here.task_id};
    for (size_t i = 0; i < cells.count; i++) {
        const struct graph_move_cell *c = &cells.items[i];
        const bool same_family = is_it(&is_family, c->family);
        const bool same_target = str_equal(c->target_id, transfer->here.target_id);
        const bool same_task = is_it(&is_task, c->task_id);
        const bool is_in[SCOPES] = {true, same_family, same_family && same_target,
                                    same_task && same_target};
        for (size_t s = 0; s < SCOPES; s++) {
            failures[s] += is_in[s] ? c->failures : 0.0;
            trials[s] += is_in[s] ? c->failures + c->count : 0.0;
        }
    }
    double rate = 0.0;
    for (size_t s = 0; s < SCOPES; s++) {
        rate = (failures[s] + PRIOR_TRIALS * rate) / (trials[s] + PRIOR_TRIALS);
        belief->evidence = trials[s] > 0.0 ? trials[s] : belief->evidence;
    }
    belief->failure_rate = rate;
}

/* The cells are the graph's, what is learned lives longer. */
static const struct graph_move_cell *keep_cell(const struct graph_move_cell *cell,
                                               struct arena *arena)
{
    if (!cell)
        return NULL;
    struct graph_move_cell *copy = arena_memdup(arena, cell, sizeof *cell);
    copy->move = arena_strdup(arena, cell->move);
    copy->task_id = arena_strdup(arena, cell->task_id);
    copy->task_name = arena_strdup(arena, cell->task_name);
    copy->family = arena_strdup(arena, cell->family);
    copy->regime = arena_strdup(arena, cell->regime);
    copy->target_id = arena_strdup(arena, cell->target_id);
    return copy;
}

static void find_extremes(struct cells cells, double spread, struct transfer_belief *belief,
                          struct arena *arena)
{
    double best = CLEAR_EFFECT;
    double worst = -CLEAR_EFFECT;
    for (size_t i = 0; i < cells.count; i++) {
        const struct graph_move_cell *c = &cells.items[i];
        if (c->count < 1.0)
            continue;
        const double z = c->sum / c->count / sqrt(cell_variance(c, spread));
        if (z > best) {
            best = z;
            belief->best = c;
        }
        if (z < worst) {
            worst = z;
            belief->worst = c;
        }
    }
    belief->best = keep_cell(belief->best, arena);
    belief->worst = keep_cell(belief->worst, arena);
}

static void learn_kind(struct transfer *transfer, struct transfer_belief *beliefs,
                       const struct transfer_move *moves, size_t count, struct cells cells,
                       enum knowledge kind, struct arena *arena)
{
    struct transfer_discount *discount = &transfer->discounts[kind];
    CLEANUP(forest_free) struct forest forest = {0};
    struct leaf *leaves = arena_array(arena, count + 1, sizeof *leaves);
    learn_machines(transfer, moves, count, cells, kind, arena);
    for (size_t i = 0; i < count; i++) {
        if (moves[i].kind == kind)
            grow_tree(&forest, cells_for(cells, &moves[i], &transfer->here), transfer, &moves[i],
                      &leaves[i]);
    }
    struct stats_between levels[LEVELS] = {
        [FAMILY_LEVEL] = {.prior = priors[kind].family * priors[kind].family},
        [REGIME_LEVEL] = {.prior = priors[kind].regime * priors[kind].regime},
        [TASK_LEVEL] = {.prior = priors[kind].task * priors[kind].task},
    };
    for (size_t l = 0; l < LEVELS; l++)
        levels[l].prior_count = PRIOR_COMPARISONS;
    stats_groups_fit(forest.groups, forest.count, levels, LEVELS);
    discount->family = levels[FAMILY_LEVEL].learned;
    discount->regime = levels[REGIME_LEVEL].learned;
    discount->task = levels[TASK_LEVEL].learned;
    discount->families = levels[FAMILY_LEVEL].count;
    discount->regimes = levels[REGIME_LEVEL].count;
    discount->tasks = levels[TASK_LEVEL].count;
    for (size_t i = 0; i < count; i++) {
        if (moves[i].kind != kind)
            continue;
        const double prior = prior_sd(moves[i].prior_log_ratio);
        /* What a move on the loops promises is read off the loops at hand: it says something of
         * this family, and nothing of others (decision 37). */
        if (kind == KNOWLEDGE_STRUCTURE)
            stats_group_add(forest.groups, leaves[i].family, moves[i].prior_log_ratio,
                            prior * prior);
        const struct stats_normal posterior = stats_group_posterior(forest.groups, leaves[i].task);
        const struct cells own = cells_for(cells, &moves[i], &transfer->here);
        beliefs[i] = (struct transfer_belief){.move = moves[i].name,
                                              .kind = kind,
                                              .mean = posterior.mean,
                                              .sd = sqrt(posterior.variance)};
        count_failures(own, transfer, &beliefs[i]);
        find_extremes(own, spread_of(own, moves[i].prior_log_ratio), &beliefs[i], arena);
    }
}

bool transfer_learn(struct graph *graph, const struct transfer_move *moves, size_t count,
                    const struct transfer_place *here, struct arena *arena, struct transfer *out,
                    struct err *err)
{
    struct cells cells = {0};
    struct transfer learned = {.here = *here, .belief_count = count};
    struct transfer_belief *beliefs = arena_array(arena, count + 1, sizeof *beliefs);
    if ((count != 0 && !graph_move_cells(graph, &cells.items, &cells.count, err)) ||
        !graph_targets(graph, arena, &learned.targets, &learned.target_count, err))
        return false;
    for (int kind = 0; kind < KNOWLEDGE_COUNT; kind++)
        learn_kind(&learned, beliefs, moves, count, cells, (enum knowledge)kind, arena);
    learned.beliefs = beliefs;
    *out = learned;
    return true;
}

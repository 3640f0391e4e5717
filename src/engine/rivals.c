/*
 * Moves of one group replace each other. What is believed of a move is a gain over a recipe without
 * any of its group; where one of them is in place already, another gains the difference of the two,
 * which is mostly little, and which other tasks know: that results past the caches are slower on
 * this machine holds for every nest that fits them.
 *
 * An additive model of log-ratios, by ridge regression (backfitting; Buja, Hastie and Tibshirani,
 * 1989): a level for each task and an effect of each move that is in place, drawn towards its
 * prior. Rows are the timed candidates of this run, and those of the runs that related tasks'
 * winners are from; all of these together weigh no more than a few of its own. It only compares
 * moves of one group on what stands; it makes no candidates (decision 39 has what came of that).
 */
#include "engine/rivals.h"

#include "engine/dispatch.h"
#include "engine/sequence.h"

#include "base/str.h"
#include "graph/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RELATED_RUNS = 10, MOST_OF_RUN = 256, SWEEPS = 30, NOTHING = -1 };
/* In log-ratio: noise of a row with what the model leaves out; how far an effect is from its prior.
 */
#define ROW_SD 0.08
#define STRUCTURE_SD 0.2
#define FLAG_SD 0.06
/* Of a row of another task, and of all of them for one move. */
#define OTHERS_WEIGHT 0.35
#define MOST_OTHERS 2.0
#define SAME_AGAIN_SD 0.05
/* Of a row of another family beside one of the task's own. */
#define STRANGER_WEIGHT 0.1

/* A candidate: what is in place, by group. */
struct row {
    int task;      /* 0: of this run */
    double weight; /* for what openings promise: less where the task is of another family */
    bool is_known; /* what is in place */
    bool is_timed;
    double log_ratio;
    const int *in_place; /* moves; NOTHING */
};

struct rivals {
    struct arena arena;
    size_t group_count;
    int *group_of; /* by move of the catalogue; NOTHING: it has no rivals */
    struct row *related;
    size_t related_count;
    int task_count; /* this one among them */
};

/* --- what is in place --------------------------------------------------------------------------
 */

/* Options that add up, and steps on top of each other. */
static bool replaces(const char *group)
{
    return !str_equal(group, "math") && !str_equal(group, "simd") && !str_equal(group, "sizes") &&
           !str_starts_with(group, "nest-");
}

static void number_groups(struct rivals *r, const struct move *moves, size_t count)
{
    r->group_of = arena_array(&r->arena, count + 1, sizeof *r->group_of);
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (!str_equal(moves[first].group, moves[i].group))
            first++;
        r->group_of[i] = !replaces(moves[i].group) ? NOTHING
                         : first < i               ? r->group_of[first]
                                                   : (int)r->group_count++;
    }
}

static void put_in_place(const struct rivals *r, const struct run *run, const char *words,
                         int *in_place)
{
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        for (size_t i = 0; i < run->catalogue_count; i++) {
            const char *name = run->catalogue[i].name;
            if (strlen(name) == length && strncmp(name, at, length) == 0 &&
                r->group_of[i] != NOTHING)
                in_place[r->group_of[i]] = (int)i;
        }
        at += length;
    }
}

/* After `words` on what was in place; `before` NULL: on nothing. */
static const int *after(const struct rivals *r, const struct run *run, const int *before,
                        const char *words, struct arena *arena)
{
    int *in_place = arena_array(arena, r->group_count + 1, sizeof *in_place);
    for (size_t g = 0; g < r->group_count; g++)
        in_place[g] = before ? before[g] : NOTHING;
    put_in_place(r, run, words, in_place);
    return in_place;
}

/* --- rows --------------------------------------------------------------------------------------
 */

/* The place of a decision among the first `count`; `count`: it is none of them. */
static size_t find_decision(const struct graph_decisions *all, size_t count, const char *id)
{
    size_t at = 0;
    while (at < count && !str_equal(all->items[at].id, id))
        at++;
    return at;
}

/* Of what no step says how it was made, nothing is known to be in place; nor after it. */
static bool add_run(struct rivals *r, struct run *run, const struct graph_decisions *all,
                    bool is_stranger, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct row *rows = &r->related[r->related_count];
    const size_t count = all->count < MOST_OF_RUN ? all->count : MOST_OF_RUN;
    for (size_t i = 0; i < count; i++) {
        const struct graph_decision *d = &all->items[i];
        const bool is_first = d->parent[0] == '\0' || propose_is_restart(d->intent);
        const size_t parent = is_first ? i : find_decision(all, i, d->parent);
        const struct row *before = parent < i ? &rows[parent] : NULL;
        struct sequence_words words;
        if (!sequence_of_step(run->memory.graph, d->moves, d->derived_from, &scratch, &words, err))
            return false;
        rows[i] = (struct row){
            .task = r->task_count,
            .weight = is_stranger ? STRANGER_WEIGHT : 1.0,
            .is_known = words.is_known && (before ? before->is_known : is_first),
            .is_timed = d->has_outcome && d->kind == VERDICT_TIMED,
            .log_ratio = d->log_ratio,
            .in_place = after(r, run, before ? before->in_place : NULL, words.text, &r->arena)};
    }
    r->related_count += count;
    r->task_count++;
    return true;
}

bool rivals_open(struct run *run, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct graph_decisions related;
    struct graph_decisions runs[RELATED_RUNS];
    size_t rows = 0;
    if (run->rivals)
        return true;
    if (!graph_related(run->memory.graph, run->task->id.text, run->features->id.text, RELATED_RUNS,
                       &scratch, &related, err))
        return false;
    for (size_t i = 0; i < related.count; i++) {
        if (!graph_run_decisions(run->memory.graph, related.items[i].run_id, &scratch, &runs[i],
                                 err))
            return false;
        rows += runs[i].count;
    }
    struct rivals *r = calloc(1, sizeof *r);
    if (!r)
        BUG("engine: out of memory");
    number_groups(r, run->catalogue, run->catalogue_count);
    r->related = arena_array(&r->arena, rows + 1, sizeof *r->related);
    r->task_count = 1;
    for (size_t i = 0; i < related.count; i++) {
        const struct graph_decision *winner = &related.items[i];
        if (str_equal(winner->target_id, run->features->id.text) &&
            !add_run(r, run, &runs[i], !str_equal(winner->family, run->task->family), err)) {
            rivals_close(&r);
            return false;
        }
    }
    run->rivals = r;
    return true;
}

void rivals_close(struct rivals **rivals)
{
    if (!*rivals)
        return;
    arena_free(&(*rivals)->arena);
    free(*rivals);
    *rivals = NULL;
}

/* Those of this run, by node; and the related ones after them. */
static struct row *all_rows(const struct run *run, struct arena *arena, size_t *count)
{
    const struct rivals *r = run->rivals;
    struct row *rows = arena_array(arena, run->node_count + r->related_count + 1, sizeof *rows);
    for (size_t i = 0; i < run->node_count; i++) {
        const struct run_node *node = &run->nodes[i];
        const int parent = search_node(run->search, (int)i)->parent;
        const struct row *before =
            parent == SEARCH_NO_NODE || node->is_restart ? NULL : &rows[parent];
        const bool is_known = i == 0 || (node->moves[0] != '\0' && !dispatch_is_one(node->moves));
        rows[i] = (struct row){
            .weight = 1.0,
            .is_known = is_known && (!before || before->is_known),
            .is_timed = node->is_timed && i > 0,
            .log_ratio = node->log_ratio,
            .in_place = after(r, run, before ? before->in_place : NULL, node->moves, arena)};
    }
    if (r->related_count > 0)
        memcpy(rows + run->node_count, r->related, r->related_count * sizeof *rows);
    *count = run->node_count + r->related_count;
    return rows;
}

/* --- effects -----------------------------------------------------------------------------------
 */

struct fit {
    const struct run *run;
    const struct row *rows;
    size_t count;
    bool is_by_family; /* rows count by their weight */
    double *levels;    /* by task */
    double *effects;   /* by move */
    double *weights;   /* by move: own and others' rows */
    double *variance;  /* by move: of its effect */
};

/* On top of `sum`: in this order, since a sum in another one is another number. */
static double add_in_place(double sum, const struct rivals *r, const double *effects,
                           const int *in_place)
{
    for (size_t g = 0; g < r->group_count; g++)
        sum += in_place[g] == NOTHING ? 0.0 : effects[in_place[g]];
    return sum;
}

static double predicted(const struct fit *f, const struct row *row)
{
    return add_in_place(f->levels[row->task], f->run->rivals, f->effects, row->in_place);
}

/* Does the row say anything? */
static bool is_evidence(const struct row *row)
{
    return row->is_timed && row->is_known;
}

static void fit_levels(struct fit *f)
{
    for (int task = 0; task < f->run->rivals->task_count; task++) {
        double sum = 0.0;
        double count = 0.0;
        for (size_t i = 0; i < f->count; i++) {
            if (f->rows[i].task != task || !is_evidence(&f->rows[i]))
                continue;
            sum += f->rows[i].log_ratio - predicted(f, &f->rows[i]) + f->levels[task];
            count += 1.0;
        }
        if (count > 0.0)
            f->levels[task] = sum / count;
    }
}

static double prior_sd(const struct move *move)
{
    return str_equal(move->group, "nest") || str_equal(move->group, "bundle") ? STRUCTURE_SD
                                                                              : FLAG_SD;
}

static void fit_effect(struct fit *f, int move)
{
    const struct move *m = &f->run->catalogue[move];
    const int group = f->run->rivals->group_of[move];
    double sums[2] = {0.0, 0.0}; /* own, others */
    double counts[2] = {0.0, 0.0};
    for (size_t i = 0; i < f->count; i++) {
        const struct row *row = &f->rows[i];
        const double row_weight = f->is_by_family ? row->weight : 1.0;
        if (row->in_place[group] != move || !is_evidence(row))
            continue;
        sums[row->task != 0] +=
            row_weight * (row->log_ratio - predicted(f, row) + f->effects[move]);
        counts[row->task != 0] += row_weight;
    }
    const double others = fmin(OTHERS_WEIGHT, MOST_OTHERS / fmax(1.0, counts[1]));
    const double precision = 1.0 / (ROW_SD * ROW_SD);
    const double prior_precision = 1.0 / (prior_sd(m) * prior_sd(m));
    const double weight = counts[0] + others * counts[1];
    f->weights[move] = weight;
    f->variance[move] = 1.0 / (precision * weight + prior_precision);
    f->effects[move] =
        (precision * (sums[0] + others * sums[1]) + prior_precision * m->prior_log_ratio) *
        f->variance[move];
}

static struct fit fit(const struct run *run, const struct row *rows, size_t count,
                      bool is_by_family, struct arena *arena)
{
    const struct rivals *r = run->rivals;
    struct fit f = {.run = run,
                    .rows = rows,
                    .count = count,
                    .is_by_family = is_by_family,
                    .levels = arena_array(arena, (size_t)r->task_count, sizeof(double)),
                    .effects = arena_array(arena, run->catalogue_count + 1, sizeof(double)),
                    .weights = arena_array(arena, run->catalogue_count + 1, sizeof(double)),
                    .variance = arena_array(arena, run->catalogue_count + 1, sizeof(double))};
    for (int task = 0; task < r->task_count; task++)
        f.levels[task] = 0.0;
    for (size_t i = 0; i < run->catalogue_count; i++)
        f.effects[i] = run->catalogue[i].prior_log_ratio;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        fit_levels(&f);
        for (size_t i = 0; i < run->catalogue_count; i++) {
            if (r->group_of[i] != NOTHING)
                fit_effect(&f, (int)i);
        }
    }
    return f;
}

bool rivals_believe(struct run *run, int node, struct arena *arena, struct move_belief *beliefs,
                    size_t count, struct err *err)
{
    size_t row_count = 0;
    if (!rivals_open(run, err))
        return false;
    const struct row *rows = all_rows(run, arena, &row_count);
    const struct fit f = fit(run, rows, row_count, false, arena);
    for (size_t i = 0; i < count; i++) {
        const int group = run->rivals->group_of[i];
        const int there = group == NOTHING ? NOTHING : rows[node].in_place[group];
        if (there == NOTHING)
            continue;
        const bool is_same = there == (int)i;
        beliefs[i].mean = is_same ? 0.0 : f.effects[i] - f.effects[there];
        beliefs[i].sd = is_same ? SAME_AGAIN_SD : sqrt(f.variance[i] + f.variance[there]);
        beliefs[i].evidence = f.weights[i];
    }
    return true;
}

bool rivals_effects(struct run *run, struct arena *arena, struct rivals_effects *out,
                    struct err *err)
{
    size_t count = 0;
    if (!rivals_open(run, err))
        return false;
    const struct row *rows = all_rows(run, arena, &count);
    const struct fit f = fit(run, rows, count, true, arena);
    *out = (struct rivals_effects){.gains = f.effects, .weights = f.weights};
    return true;
}

/* Options that let loops run on vectors, and strips for their sums: what they promise is a gain
 * over loops that are not in vectors. */
static bool is_for_plain_loops(const struct move *move)
{
    static const char *const groups[] = {"bundle", "strip", "math", "simd"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (str_equal(move->group, groups[i]))
            return true;
    }
    return false;
}

/* Over the mean of those of its group that were measured. */
static double over_its_rivals(const struct run *run, const struct rivals_effects *effects, int move)
{
    double sum = 0.0;
    double weights = 0.0;
    for (size_t i = 0; i < run->catalogue_count; i++) {
        if (!str_equal(run->catalogue[i].group, run->catalogue[move].group))
            continue;
        sum += effects->weights[i] * effects->gains[i];
        weights += effects->weights[i];
    }
    return effects->weights[move] > 0.0 ? effects->gains[move] - sum / weights : 0.0;
}

/* Does a later one take its place? */
static bool is_replaced(const struct rivals *r, const int *moves, size_t count, size_t at)
{
    for (size_t i = at + 1; i < count; i++) {
        if (r->group_of[moves[at]] != NOTHING && r->group_of[moves[i]] == r->group_of[moves[at]])
            return true;
    }
    return false;
}

double rivals_sum(const struct run *run, const struct rivals_effects *effects, const int *moves,
                  size_t count)
{
    bool has_nest = false;
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        has_nest = has_nest || str_equal(run->catalogue[moves[i]].group, "nest");
    for (size_t i = 0; i < count; i++) {
        const bool is_less = has_nest && is_for_plain_loops(&run->catalogue[moves[i]]);
        if (!is_replaced(run->rivals, moves, count, i))
            sum += is_less ? over_its_rivals(run, effects, moves[i]) : effects->gains[moves[i]];
    }
    return sum;
}

#include "context/value.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "stats/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIALS = 1000000, ROUNDS = 400, ITEM_ROUNDS = 200 };
#define SEED UINT64_C(20261)
/* Before any data: how much the worth of a kind may be, and how much items of a kind differ, as
 * standard deviations in log-ratio; the latter guess counts as so many items. */
#define KIND_SD 0.2
#define ITEM_SD 0.05
#define PRIOR_ITEMS 4.0
#define WANTED_WIDTH 0.05
#define NORMAL_95 1.96

struct row {
    struct stats_trial trial;
    const char *kind, *ref;
    double tokens;
};

/* Sums of the gains of decisions. */
struct mean {
    double sum, count;
};

struct run_sums {
    size_t task;
    struct mean gains;
};

struct collection {
    struct arena *arena;
    struct row *rows;
    size_t count, capacity;
    struct run_sums *runs;
    size_t run_count, run_capacity;
    struct mean *tasks;
    size_t task_count, task_capacity;
    struct mean all;
    const char *task_id, *run_id, *decision_id, *kind, *ref; /* of the row before */
    size_t decisions;
};

/* The same text as before, or a copy. */
static bool changes(struct collection *c, const char **before, const char *text)
{
    if (*before && str_equal(*before, text))
        return false;
    *before = arena_strdup(c->arena, text);
    return true;
}

static void add_decision(struct collection *c, double gain)
{
    struct run_sums *run = &c->runs[c->run_count - 1];
    struct mean *sums[] = {&run->gains, &c->tasks[run->task], &c->all};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        sums[i]->sum += gain;
        sums[i]->count += 1.0;
    }
    c->decisions++;
}

static bool collect(void *context, const struct graph_trial *t, struct err *err)
{
    struct collection *c = context;
    (void)err;
    const bool new_task = changes(c, &c->task_id, t->task_id);
    const bool new_run = changes(c, &c->run_id, t->run_id) || new_task;
    if (new_task) {
        c->tasks = vec_reserve_one(c->tasks, c->task_count, &c->task_capacity, sizeof *c->tasks);
        c->tasks[c->task_count++] = (struct mean){0};
    }
    if (new_run) {
        c->runs = vec_reserve_one(c->runs, c->run_count, &c->run_capacity, sizeof *c->runs);
        c->runs[c->run_count++] = (struct run_sums){.task = c->task_count - 1};
    }
    if (changes(c, &c->decision_id, t->decision_id) || new_run)
        add_decision(c, t->gain);
    (void)changes(c, &c->kind, t->kind);
    (void)changes(c, &c->ref, t->ref);
    c->rows = vec_reserve_one(c->rows, c->count, &c->capacity, sizeof *c->rows);
    c->rows[c->count++] = (struct row){
        .trial = {c->run_count - 1, t->gain, t->propensity, t->shown},
        .kind = c->kind,
        .ref = c->ref,
        .tokens = (double)t->tokens,
    };
    return true;
}

/* Less what others gained: the other runs of the task, else all other runs. That depends on nothing
 * that was drawn for this run, so it takes noise away and adds no bias. */
static void adjust(struct collection *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct run_sums *run = &c->runs[c->rows[i].trial.cluster];
        const struct mean *scopes[] = {&c->tasks[run->task], &c->all};
        for (size_t s = 0; s < 2; s++) {
            const double others = scopes[s]->count - run->gains.count;
            if (others < 1.0)
                continue;
            c->rows[i].trial.outcome -= (scopes[s]->sum - run->gains.sum) / others;
            break;
        }
    }
}

static int by_item(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order = strcmp(x->kind, y->kind);
    order = order ? order : strcmp(x->ref, y->ref);
    if (order == 0)
        order = (x->trial.cluster > y->trial.cluster) - (x->trial.cluster < y->trial.cluster);
    return order;
}

/* The rows from `first` on that have the same kind (and ref). */
static size_t span(const struct collection *c, size_t first, bool same_ref)
{
    size_t count = 1;
    while (first + count < c->count &&
           str_equal(c->rows[first + count].kind, c->rows[first].kind) &&
           (!same_ref || str_equal(c->rows[first + count].ref, c->rows[first].ref)))
        count++;
    return count;
}

static struct context_worth measure(const struct collection *c, size_t first, size_t count,
                                    unsigned rounds, struct stats_trial *scratch)
{
    struct context_worth worth = {.kind = c->rows[first].kind, .ref = ""};
    size_t clusters = 0; /* numbered anew: an item is in a few runs of many */
    size_t last = (size_t)-1;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = c->rows[first + i].trial;
        worth.tokens += c->rows[first + i].tokens / (double)count;
    }
    if (rounds == ITEM_ROUNDS) {
        for (size_t i = 0; i < count; i++) {
            clusters += scratch[i].cluster != last;
            last = scratch[i].cluster;
            scratch[i].cluster = clusters - 1;
        }
    } else {
        clusters = c->run_count;
    }
    worth.raw = stats_uplift_estimate(scratch, count, clusters, rounds, SEED);
    worth.effect = worth.raw.effect;
    worth.low = worth.raw.low;
    worth.high = worth.raw.high;
    worth.is_known = worth.raw.clusters_withheld >= CONTEXT_VALUE_LEAST_RUNS &&
                     worth.raw.clusters_shown >= CONTEXT_VALUE_LEAST_RUNS &&
                     isfinite(worth.raw.error);
    const double half = NORMAL_95 * worth.raw.error;
    worth.runs_wanted = ceil((double)c->run_count * half * half / (WANTED_WIDTH * WANTED_WIDTH));
    return worth;
}

/* Items of a kind: each drawn towards what they say together. */
static void shrink(struct context_worth *items, size_t count, struct arena *arena)
{
    struct stats_group *groups = arena_array(arena, count + 1, sizeof *groups);
    struct stats_between level = {.prior = ITEM_SD * ITEM_SD, .prior_count = PRIOR_ITEMS};
    groups[0] = (struct stats_group){.parent = 0};
    stats_group_see(&groups[0], 0.0, KIND_SD * KIND_SD);
    for (size_t i = 0; i < count; i++) {
        groups[i + 1] = (struct stats_group){.parent = 0};
        stats_group_see(&groups[i + 1], items[i].raw.effect,
                        items[i].raw.error * items[i].raw.error);
    }
    stats_groups_fit(groups, count + 1, &level, 1);
    for (size_t i = 0; i < count; i++) {
        const struct stats_normal p = stats_group_posterior(groups, i + 1);
        items[i].effect = p.mean;
        items[i].low = p.mean - NORMAL_95 * sqrt(p.variance);
        items[i].high = p.mean + NORMAL_95 * sqrt(p.variance);
    }
}

static int by_low(const void *a, const void *b)
{
    const struct context_worth *x = a;
    const struct context_worth *y = b;
    if (x->low != y->low)
        return x->low > y->low ? -1 : 1;
    return strcmp(x->ref, y->ref);
}

/* Rows are sorted. An item that was withheld and shown in two runs each says something. */
static void measure_kind(const struct collection *c, size_t first, size_t count,
                         struct stats_trial *scratch, struct arena *arena,
                         struct context_worth *items, struct context_value *out)
{
    const size_t before = out->item_count;
    for (size_t i = first; i < first + count;) {
        const size_t rows = span(c, i, true);
        struct context_worth worth = measure(c, i, rows, ITEM_ROUNDS, scratch);
        worth.ref = c->rows[i].ref;
        if (isfinite(worth.raw.error) && worth.raw.error > 0.0)
            items[out->item_count++] = worth;
        else
            out->unknown_items++;
        i += rows;
    }
    shrink(items + before, out->item_count - before, arena);
}

static size_t count_items(const struct collection *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i += span(c, i, true))
        count++;
    return count;
}

static void evaluate(struct collection *c, struct arena *arena, struct context_value *out)
{
    struct stats_trial *scratch = arena_array(arena, c->count + 1, sizeof *scratch);
    adjust(c);
    if (c->count != 0)
        qsort(c->rows, c->count, sizeof *c->rows, by_item);
    const size_t most = count_items(c);
    struct context_worth *items = arena_array(arena, most + 1, sizeof *items);
    struct context_worth *kinds = arena_array(arena, most + 1, sizeof *kinds);
    for (size_t i = 0; i < c->count;) {
        const size_t rows = span(c, i, false);
        kinds[out->kind_count++] = measure(c, i, rows, ROUNDS, scratch);
        measure_kind(c, i, rows, scratch, arena, items, out);
        i += rows;
    }
    if (out->item_count != 0)
        qsort(items, out->item_count, sizeof *items, by_low);
    out->kinds = kinds;
    out->items = items;
}

bool context_value(struct graph *graph, struct arena *arena, struct context_value *out,
                   struct err *err)
{
    struct collection c = {.arena = arena};
    const bool ok = graph_trials(graph, MOST_TRIALS, collect, &c, err);
    if (ok) {
        *out = (struct context_value){.decisions = c.decisions,
                                      .runs = c.run_count,
                                      .trials = c.count,
                                      .is_cut = c.count == MOST_TRIALS};
        evaluate(&c, arena, out);
    }
    free(c.rows);
    free(c.runs);
    free(c.tasks);
    return ok;
}

static void append_row(struct buf *text, const char *name, const struct context_worth *w)
{
    (void)buf_printf(text, "%-32.32s %7zu %8zu %5zu  %+7.3f [%+7.3f, %+7.3f] %7.0f %+9.2f\n", name,
                     w->raw.shown, w->raw.withheld, w->raw.clusters_withheld, w->effect, w->low,
                     w->high, w->tokens, w->tokens > 0.0 ? 1000.0 * w->effect / w->tokens : 0.0);
}

static void append_wanting(struct buf *text, const struct context_value *value)
{
    for (size_t i = 0; i < value->kind_count; i++) {
        const struct context_worth *w = &value->kinds[i];
        if (!w->is_known)
            (void)buf_printf(text,
                             "not enough data on %s: withheld in %zu runs and shown in %zu, %d of "
                             "each are needed\n",
                             w->kind, w->raw.clusters_withheld, w->raw.clusters_shown,
                             CONTEXT_VALUE_LEAST_RUNS);
        else if (w->runs_wanted > (double)value->runs)
            (void)buf_printf(text, "%s: to know it to +-%.2f takes about %.0f runs\n", w->kind,
                             WANTED_WIDTH, w->runs_wanted);
    }
    if (value->unknown_items != 0)
        (void)buf_printf(text,
                         "%zu items were not shown and withheld in two runs each: nothing is known "
                         "of them alone\n",
                         value->unknown_items);
}

char *context_value_text(const struct context_value *value, size_t limit, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    (void)buf_printf(&text,
                     "%zu decisions in %zu runs had a prompt with items withheld at random%s\n",
                     value->decisions, value->runs, value->is_cut ? " (the newest runs)" : "");
    if (value->trials == 0) {
        (void)buf_printf(&text,
                         "not enough data: %d runs with a model are needed in which something was "
                         "withheld; memories of the offline proposer alone have no prompts\n",
                         CONTEXT_VALUE_LEAST_RUNS);
        return arena_strdup(arena, buf_text(&text));
    }
    (void)buf_printf(&text, "\n%-32s %7s %8s %5s  %-26s %7s %9s\n", "what it adds to a step's gain",
                     "shown", "withheld", "runs", "log-ratio [95 %]", "tokens", "per 1000");
    for (size_t i = 0; i < value->kind_count; i++) {
        if (value->kinds[i].is_known)
            append_row(&text, value->kinds[i].kind, &value->kinds[i]);
    }
    const size_t shown = value->item_count < limit ? value->item_count : limit;
    if (shown != 0)
        (void)buf_printf(&text, "\nitems, each drawn towards its kind (%zu of %zu):\n", shown,
                         value->item_count);
    for (size_t i = 0; i < shown; i++)
        append_row(&text,
                   arena_printf(arena, "%s %.20s", value->items[i].kind, value->items[i].ref),
                   &value->items[i]);
    (void)buf_append_str(&text, "\n");
    append_wanting(&text, value);
    return arena_strdup(arena, buf_text(&text));
}

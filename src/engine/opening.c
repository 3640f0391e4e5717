/*
 * Openings: what won elsewhere, played again here. A winner of another task is a sequence of moves,
 * from the baseline on. Its recipe is of little use elsewhere, since steps on a nest name the
 * nest's loops; the moves have names that all tasks share, and each builds its own steps on the
 * nest at hand. Those that do not apply here are left out; how much of a sequence is left says how
 * far it can be believed. Sequences that come to the same recipe here speak for it together.
 */
#include "engine/opening.h"

#include "base/str.h"
#include "graph/look.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MOVES = 32 };
/* What a task of another family says against one of this family, less for each that is nearer. */
#define FOREIGN_SHARE 0.5
#define FOREIGN_DECAY 0.97
/* Gains of openings are drawn towards nothing, as if so much of a relative had gained nothing. */
#define DOUBT 0.5

/* --- the moves of a path -----------------------------------------------------------------------
 */

struct sequence {
    const char *moves[MOST_MOVES];
    size_t count;
    bool is_known; /* each step says by which moves it was made */
};

static void add_words(struct sequence *s, const char *words, struct arena *arena)
{
    for (const char *at = words; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (length > 0 && s->count < MOST_MOVES)
            s->moves[s->count++] = arena_strndup(arena, at, length);
        at += length + strspn(at + length, " ");
    }
}

static bool sequence_of(struct graph *graph, const char *decision_id, struct arena *arena,
                        struct sequence *out, struct err *err)
{
    struct graph_decisions path;
    *out = (struct sequence){.is_known = true};
    if (!graph_path(graph, decision_id, arena, &path, err))
        return false;
    out->is_known = path.count > 0 && path.items[0].parent[0] == '\0';
    for (size_t i = 0; i < path.count; i++) {
        if (propose_is_restart(path.items[i].intent)) {
            out->count = 0;
            out->is_known = true;
        }
        out->is_known = out->is_known && path.items[i].moves[0] != '\0';
        add_words(out, path.items[i].moves, arena);
    }
    return true;
}

/* --- played here -------------------------------------------------------------------------------
 */

/* Memories of before have a step by its text, "unroll(j:4)" for "step-unroll". */
static bool is_same_move(const char *here, const char *there)
{
    static const char prefix[] = "step-";
    const size_t length = strcspn(there, "(");
    if (str_equal(here, there))
        return true;
    if (there[length] != '(' || !str_starts_with(here, prefix))
        return false;
    here += strlen(prefix);
    return strlen(here) == length && strncmp(here, there, length) == 0;
}

static const struct move *find_move(const struct run *run, const char *name)
{
    for (size_t i = 0; i < run->catalogue_count; i++) {
        if (is_same_move(run->catalogue[i].name, name))
            return &run->catalogue[i];
    }
    return NULL;
}

/* The share of the moves that apply here; those are in `out`. */
static double play(const struct run *run, const struct sequence *s, struct arena *arena,
                   struct opening *out)
{
    out->recipe = recipe_plain(&run->moves, arena);
    for (size_t i = 0; i < s->count; i++) {
        const struct move *move = find_move(run, s->moves[i]);
        const struct recipe *next = NULL;
        const char *refusal = NULL;
        if (!move || !move_apply(&run->moves, move, out->recipe, arena, &next, &refusal))
            continue;
        out->recipe = next;
        if (out->move_count < OPENING_MAX_MOVES)
            out->moves[out->move_count++] = move->name;
    }
    out->text = recipe_text(out->recipe, arena);
    return s->count > 0 ? (double)out->move_count / (double)s->count : 0.0;
}

/* A recipe of a decision whose moves are not known, where it reads here as it stands. */
static double take_recipe(const struct run *run, const struct graph_decision *known,
                          struct arena *arena, struct opening *out)
{
    struct err ignored = {0};
    if (known->recipe[0] == '\0' ||
        !recipe_parse(&run->moves, known->recipe, arena, &out->recipe, &ignored))
        return 0.0;
    out->text = recipe_text(out->recipe, arena);
    return 1.0;
}

/* --- which -------------------------------------------------------------------------------------
 */

struct votes {
    struct opening *openings;
    double *weights, *sums; /* by opening */
    size_t count;
};

static void vote(struct votes *votes, const struct opening *opening, double weight, double gain)
{
    size_t i = 0;
    while (i < votes->count && !str_equal(votes->openings[i].text, opening->text))
        i++;
    if (i == votes->count)
        votes->openings[votes->count++] = *opening;
    else
        votes->openings[i].votes++;
    votes->weights[i] += weight;
    votes->sums[i] += weight * gain;
}

static int by_expected(const void *a, const void *b)
{
    const struct opening *x = a;
    const struct opening *y = b;
    if (x->expected != y->expected)
        return x->expected > y->expected ? -1 : 1;
    return strcmp(x->text, y->text);
}

bool openings_find(struct run *run, const struct graph_decisions *related, struct arena *arena,
                   const struct opening **out, size_t *out_count, struct err *err)
{
    struct votes votes = {.openings =
                              arena_array(arena, related->count + 1, sizeof(struct opening)),
                          .weights = arena_array(arena, related->count + 1, sizeof(double)),
                          .sums = arena_array(arena, related->count + 1, sizeof(double))};
    const char *plain = recipe_text(recipe_plain(&run->moves, arena), arena);
    double foreign = FOREIGN_SHARE;
    for (size_t i = 0; i < related->count; i++) {
        const struct graph_decision *d = &related->items[i];
        struct opening opening = {.from = d, .votes = 1};
        struct sequence sequence;
        double weight = 1.0;
        if (d->log_low <= 0.0)
            continue;
        if (!str_equal(d->family, run->task->family)) {
            weight = foreign;
            foreign *= FOREIGN_DECAY;
        }
        if (!sequence_of(run->memory.graph, d->id, arena, &sequence, err))
            return false;
        const double share = sequence.is_known ? play(run, &sequence, arena, &opening)
                                               : take_recipe(run, d, arena, &opening);
        if (share > 0.0 && !str_equal(opening.text, plain))
            vote(&votes, &opening, weight * share, share * d->log_ratio);
    }
    for (size_t i = 0; i < votes.count; i++)
        votes.openings[i].expected = votes.sums[i] / (votes.weights[i] + DOUBT);
    qsort(votes.openings, votes.count, sizeof *votes.openings, by_expected);
    *out = votes.openings;
    *out_count = votes.count;
    return true;
}

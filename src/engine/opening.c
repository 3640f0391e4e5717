/*
 * Openings: what won elsewhere, played again here. A winner of another task is a sequence of moves,
 * from the baseline on. Its recipe is of little use elsewhere, since steps on a nest name the
 * nest's loops; the moves have names that all tasks share, and each builds its own steps on the
 * nest at hand. Those that do not apply here, or change nothing, are left out; how much of a
 * sequence is left says how far it can be believed. What the winner did to
 * its nest gives way to what promises clearly more for this one: by what is read off the loops, and
 * by what related tasks have measured of both (rivals.h), which also says in what order they are
 * judged (decision 52). Sequences that come to the same recipe here speak for it together. Tasks of
 * other families are asked only where their loops are
 * of the same kind, that is where what they did to their nest is here, with most of what came with
 * it, and nothing promises clearly more: else what won there begins worse than what is believed of
 * single moves (decisions 37 and 49).
 */
#include "engine/opening.h"
#include "engine/rivals.h"
#include "engine/sequence.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOVES = 32 };
/* By so much, in log-ratio, must another move on the nest promise more to take its place. */
#define CLEARLY_MORE 0.3
/* What a move has to promise, in log-ratio, to loosen the arithmetic in an opening. */
#define LEAST_FOR_RISK 0.1
/* Of the moves of a winner of another family so many must be here; what it then says counts less,
 * and it promises less, in log-ratio. */
#define MOST_OF_ALL 0.75
#define OTHER_WEIGHT 0.5
#define OTHER_PROMISE (-0.3)
/* Gains of openings are drawn towards nothing, as if so much of a relative had gained nothing. */
#define DOUBT 0.5

/* --- the moves of a path -----------------------------------------------------------------------
 */

struct sequence {
    const char *moves[MOST_MOVES];
    size_t count;
    bool is_known;
};

static bool sequence_of(struct graph *graph, const char *decision_id, struct arena *arena,
                        struct sequence *out, struct err *err)
{
    struct sequence_words words;
    if (!sequence_of_decision(graph, decision_id, arena, &words, err))
        return false;
    *out = (struct sequence){.is_known = words.is_known};
    out->count = sequence_names(words.text, arena, out->moves, MOST_MOVES);
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

enum { NOT_HERE = -1 };

/* What is played with: this task's moves, what each promises, and the one on the nest that promises
 * most. */
struct player {
    const struct run *run;
    struct rivals_effects effects;
    int best_nest;
    struct arena *arena;
};

static bool is_on_nest(const struct player *p, int move)
{
    return move != NOT_HERE && str_equal(p->run->catalogue[move].group, "nest");
}

static int find_move(const struct player *p, const char *name)
{
    for (size_t i = 0; i < p->run->catalogue_count; i++) {
        if (is_same_move(p->run->catalogue[i].name, name))
            return (int)i;
    }
    return NOT_HERE;
}

/* Not by the gains that were learned: they are shared among the moves of a step, so that a move
 * that was never tried looks better than one that won. */
static double promise_on_nest(const struct player *p, int move)
{
    return p->effects.gains[move];
}

static int find_best_nest(const struct player *p)
{
    int best = NOT_HERE;
    for (size_t i = 0; i < p->run->catalogue_count; i++) {
        if (is_on_nest(p, (int)i) &&
            (best == NOT_HERE || promise_on_nest(p, (int)i) > promise_on_nest(p, best)))
            best = (int)i;
    }
    return best;
}

/* The moves here, in order, with their recipe; those that are refused are left out. */
struct line {
    int moves[MOST_MOVES];
    size_t count;
    const struct recipe *recipe;
};

static void play_line(const struct player *p, struct line *line)
{
    const struct line given = *line;
    line->count = 0;
    line->recipe = recipe_plain(&p->run->moves, p->arena);
    for (size_t i = 0; i < given.count; i++) {
        const struct recipe *next = NULL;
        const char *refusal = NULL;
        if (!move_apply(&p->run->moves, &p->run->catalogue[given.moves[i]], line->recipe, p->arena,
                        &next, &refusal))
            continue;
        line->recipe = next;
        line->moves[line->count++] = given.moves[i];
    }
}

/* Is there a later move of the group, which takes its place? */
static bool is_replaced(const struct player *p, const struct line *line, size_t at)
{
    const struct move *catalogue = p->run->catalogue;
    for (size_t i = at + 1; i < line->count; i++) {
        if (str_equal(catalogue[line->moves[i]].group, catalogue[line->moves[at]].group))
            return true;
    }
    return false;
}

/* Moves that later ones take back make nothing of the recipe. */
static void drop_idle(const struct player *p, struct line *line)
{
    struct line less = {.count = 0};
    for (size_t i = 0; i < line->count; i++) {
        if (!is_replaced(p, line, i))
            less.moves[less.count++] = line->moves[i];
    }
    if (less.count == line->count)
        return;
    play_line(p, &less);
    if (str_equal(recipe_text(less.recipe, p->arena), recipe_text(line->recipe, p->arena)))
        *line = less;
}

/* A move of this task's own at the beginning, in place of the others on the nest. */
static void begin_with_own(const struct player *p, struct line *line)
{
    struct line own = {.moves = {p->best_nest}, .count = 1};
    for (size_t i = 0; i < line->count && own.count < MOST_MOVES; i++) {
        if (!is_on_nest(p, line->moves[i]))
            own.moves[own.count++] = line->moves[i];
    }
    *line = own;
}

/* Of a line that has no move on the nest only where such a one may be among those that are not
 * here: what won without any is to be tried as it was. */
static bool has_better_own(const struct player *p, const struct line *line, bool is_part)
{
    int best = NOT_HERE;
    for (size_t i = 0; i < line->count; i++) {
        const int move = line->moves[i];
        if (is_on_nest(p, move) &&
            (best == NOT_HERE || promise_on_nest(p, move) > promise_on_nest(p, best)))
            best = move;
    }
    const double promised = best == NOT_HERE ? 0.0 : promise_on_nest(p, best);
    return p->best_nest != NOT_HERE && (best != NOT_HERE || is_part) &&
           promise_on_nest(p, p->best_nest) > promised + CLEARLY_MORE;
}

/* Arithmetic that is looser for next to nothing: right where it won, wrong where sums are longer or
 * classes tighter, and then all that came with it is lost. The search finds it where it pays. */
static bool is_risk(const struct move *move)
{
    return move->numerics != NUMERICS_EXACT && move->prior_log_ratio < LEAST_FOR_RISK;
}

/* A sequence as the moves that are here. Each on the nest stands for the whole nest, so that only
 * the last counts; playing one costs the printing and editing of the text that it makes. How many
 * there would be if all were here. */
static size_t write_line(const struct player *p, const struct sequence *s, bool is_own_task,
                         struct line *line)
{
    struct line all = {.count = 0};
    for (size_t i = 0; i < s->count; i++) {
        const int move = find_move(p, s->moves[i]);
        if (move != NOT_HERE)
            all.moves[all.count++] = move;
    }
    *line = (struct line){.count = 0};
    for (size_t i = 0; i < all.count; i++) {
        if (!is_own_task && is_risk(&p->run->catalogue[all.moves[i]]))
            continue;
        if (!is_on_nest(p, all.moves[i]) || !is_replaced(p, &all, i))
            line->moves[line->count++] = all.moves[i];
    }
    return s->count - (all.count - line->count);
}

static bool has_nest(const struct player *p, const struct line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        if (is_on_nest(p, line->moves[i]))
            return true;
    }
    return false;
}

enum kinship { OWN_TASK, OWN_FAMILY, OTHER_FAMILY };

/* The share of the moves that are here and apply; those that make the recipe are in `out`. Of
 * another family: 0 where the loops here are not of the same kind. */
static double play(const struct player *p, const struct sequence *s, enum kinship kinship,
                   struct opening *out)
{
    struct line line;
    const size_t wanted = write_line(p, s, kinship == OWN_TASK, &line);
    const size_t here = line.count;
    if (here == 0)
        return 0.0;
    const bool has_better = kinship != OWN_TASK && has_better_own(p, &line, here < wanted);
    if (has_better && kinship == OTHER_FAMILY)
        return 0.0;
    if (has_better)
        begin_with_own(p, &line);
    play_line(p, &line);
    const size_t applied = line.count < here ? line.count : here;
    const double share = (double)applied / (double)wanted;
    if (kinship == OTHER_FAMILY && (share < MOST_OF_ALL || !has_nest(p, &line)))
        return 0.0;
    drop_idle(p, &line);
    for (size_t i = 0; i < line.count && i < OPENING_MAX_MOVES; i++)
        out->moves[out->move_count++] = p->run->catalogue[line.moves[i]].name;
    out->recipe = line.recipe;
    out->text = recipe_text(line.recipe, p->arena);
    return kinship == OTHER_FAMILY ? OTHER_WEIGHT * share : share;
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
    double *weights, *gains; /* by opening: sums */
    size_t count;
};

static void vote(struct votes *votes, const struct opening *opening, double share)
{
    size_t i = 0;
    while (i < votes->count && !str_equal(votes->openings[i].text, opening->text))
        i++;
    if (i == votes->count)
        votes->openings[votes->count++] = *opening;
    else
        votes->openings[i].votes++;
    votes->weights[i] += share;
    votes->gains[i] += share * share * opening->from->log_ratio;
}

static int by_promise(const void *a, const void *b)
{
    const struct opening *x = a;
    const struct opening *y = b;
    if (x->promise != y->promise)
        return x->promise > y->promise ? -1 : 1;
    if (x->expected != y->expected)
        return x->expected > y->expected ? -1 : 1;
    return strcmp(x->text, y->text);
}

static enum kinship kinship_of(const struct player *p, const struct graph_decision *d)
{
    return str_equal(d->task_id, p->run->task->id.text) ? OWN_TASK
           : str_equal(d->family, p->run->task->family) ? OWN_FAMILY
                                                        : OTHER_FAMILY;
}

/* Of one whose moves are not known: what it gained. */
static double promise_of(const struct player *p, const struct opening *o)
{
    const double stranger = kinship_of(p, o->from) == OTHER_FAMILY ? OTHER_PROMISE : 0.0;
    int moves[OPENING_MAX_MOVES];
    for (size_t i = 0; i < o->move_count; i++)
        moves[i] = find_move(p, o->moves[i]);
    return o->move_count == 0 ? o->expected
                              : stranger + rivals_sum(p->run, &p->effects, moves, o->move_count);
}

/* What it does to the nest: the last of its moves on it, or the steps that its text has; "". */
static const char *nest_of(const struct player *p, const struct opening *o)
{
    static const char key[] = "nest=";
    const char *nest = "";
    for (size_t i = 0; i < o->move_count; i++)
        nest = is_on_nest(p, find_move(p, o->moves[i])) ? o->moves[i] : nest;
    const char *steps = o->move_count == 0 ? strstr(o->text, key) : NULL;
    return steps ? arena_strndup(p->arena, steps, strcspn(steps, " ")) : nest;
}

/* Does the opening do what none in `before` does, and promise about as much as the first? */
static bool is_another_way(const struct player *p, const struct opening *before, size_t count,
                           const struct opening *o)
{
    if (count > 0 && o->promise < before[0].promise - CLEARLY_MORE)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(nest_of(p, &before[i]), nest_of(p, o)))
            return false;
    }
    return true;
}

/* Two that differ by flags say little more than one; how the loops are to stand is worth a second
 * opinion. */
static void put_different_nests_first(const struct player *p, struct votes *votes)
{
    struct opening *ordered = arena_array(p->arena, votes->count + 1, sizeof *ordered);
    struct opening *others = arena_array(p->arena, votes->count + 1, sizeof *others);
    size_t count = 0;
    size_t other_count = 0;
    for (size_t i = 0; i < votes->count; i++) {
        if (is_another_way(p, ordered, count, &votes->openings[i]))
            ordered[count++] = votes->openings[i];
        else
            others[other_count++] = votes->openings[i];
    }
    if (other_count > 0)
        memcpy(ordered + count, others, other_count * sizeof *others);
    votes->openings = ordered;
}

static bool ask_all(const struct player *p, const struct graph_decisions *related,
                    struct votes *votes, struct err *err)
{
    const struct run *run = p->run;
    const char *plain = recipe_text(recipe_plain(&run->moves, p->arena), p->arena);
    for (size_t i = 0; i < related->count; i++) {
        const struct graph_decision *d = &related->items[i];
        const enum kinship kinship = kinship_of(p, d);
        struct opening opening = {.from = d, .votes = 1};
        struct sequence sequence;
        if (d->log_low <= 0.0)
            continue;
        if (!sequence_of(run->memory.graph, d->id, p->arena, &sequence, err))
            return false;
        const double share = sequence.is_known         ? play(p, &sequence, kinship, &opening)
                             : kinship == OTHER_FAMILY ? 0.0
                                                       : take_recipe(run, d, p->arena, &opening);
        if (share > 0.0 && !str_equal(opening.text, plain))
            vote(votes, &opening, share);
    }
    return true;
}

bool openings_find(struct run *run, const struct graph_decisions *related, struct arena *arena,
                   const struct opening **out, size_t *out_count, struct err *err)
{
    const size_t room = related->count + 1;
    struct player player = {.run = run, .arena = arena};
    struct votes votes = {.openings = arena_array(arena, room, sizeof(struct opening)),
                          .weights = arena_array(arena, room, sizeof(double)),
                          .gains = arena_array(arena, room, sizeof(double))};
    if (!rivals_effects(run, arena, &player.effects, err))
        return false;
    player.best_nest = find_best_nest(&player);
    if (!ask_all(&player, related, &votes, err))
        return false;
    for (size_t i = 0; i < votes.count; i++) {
        votes.openings[i].expected = votes.gains[i] / (votes.weights[i] + DOUBT);
        votes.openings[i].promise = promise_of(&player, &votes.openings[i]);
    }
    qsort(votes.openings, votes.count, sizeof *votes.openings, by_promise);
    put_different_nests_first(&player, &votes);
    *out = votes.openings;
    *out_count = votes.count;
    return true;
}

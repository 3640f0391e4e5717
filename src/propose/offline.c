/*
 * Driver "offline": moves on the recipe of the parent, chosen by what is believed of them. A small
 * step is one move; a large one is two to four moves of different groups, now and then from the
 * plain recipe. Deterministic for a request and its seed.
 */
#include "propose/driver.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/str.h"
#include "propose/belief.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE_MIN_MOVES = 2, LARGE_MAX_MOVES = 4, LARGE_ATTEMPTS = 12 };
#define RESTART_SHARE 0.25
/* A compound that is long enough takes no move that is drawn to lose more than this. */
#define WORST_EXTRA_DRAW (-0.02)

struct offline_state {
    const struct moves_env *env;
    const struct move *catalogue;
    size_t count;
};

/* A recipe on its way. */
struct plan {
    const struct recipe *recipe;
    const char *text;
    size_t moves[LARGE_MAX_MOVES];
    size_t move_count;
    bool is_restart;
};

struct chooser {
    const struct offline_state *state;
    const struct propose_request *request;
    struct arena *arena;
    struct rng rng;
    const char **tried; /* sorted */
    const struct move_belief *beliefs, *restart_beliefs;
    const struct recipe *parent;
    const char *parent_text, *plain_text;
};

static bool offline_open(struct proposer *proposer, const struct proposer_opts *opts,
                         struct err *err)
{
    struct offline_state *state = proposer->state;
    if (!opts->moves)
        BUG("propose: the offline proposer needs moves");
    state->env = opts->moves;
    if (!moves_catalogue(opts->moves, &proposer->arena, &state->catalogue, &state->count))
        return err_set(err, ERR_UNSUPPORTED, "there are no moves for this target");
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_tried(struct chooser *c)
{
    const size_t count = c->request->tried_count;
    c->tried = arena_array(c->arena, count + 1, sizeof *c->tried);
    if (count == 0)
        return;
    memcpy(c->tried, c->request->tried, count * sizeof *c->tried);
    qsort(c->tried, count, sizeof *c->tried, by_text);
}

/* Judged already; the parent and the plain recipe, which is the baseline, count as judged. */
static bool is_tried(const struct chooser *c, const char *text)
{
    return str_equal(text, c->parent_text) || str_equal(text, c->plain_text) ||
           bsearch(&text, c->tried, c->request->tried_count, sizeof *c->tried, by_text);
}

static bool extend(const struct chooser *c, struct plan *plan, size_t move)
{
    const struct recipe *next = NULL;
    const char *refusal = NULL;
    if (plan->move_count == LARGE_MAX_MOVES ||
        !move_apply(c->state->env, &c->state->catalogue[move], plan->recipe, c->arena, &next,
                    &refusal))
        return false;
    plan->recipe = next;
    plan->text = recipe_text(next, c->arena);
    plan->moves[plan->move_count++] = move;
    return true;
}

static bool uses_group(const struct chooser *c, const struct plan *plan, const char *group)
{
    for (size_t i = 0; i < plan->move_count; i++) {
        if (str_equal(c->state->catalogue[plan->moves[i]].group, group))
            return true;
    }
    return false;
}

static struct plan plan_from(const struct chooser *c, bool is_restart)
{
    const struct recipe *plain = is_restart ? recipe_plain(c->state->env, c->arena) : NULL;
    return (struct plan){.recipe = plain ? plain : c->parent,
                         .text = plain ? c->plain_text : c->parent_text,
                         .is_restart = is_restart};
}

/* The move with the best draw that gives something new. */
static bool choose_one(struct chooser *c, struct plan *out)
{
    const size_t count = c->state->count;
    const double *draws = beliefs_draw(c->beliefs, count, &c->rng, c->arena);
    const size_t *order = beliefs_rank(draws, count, c->arena);
    for (size_t i = 0; i < count; i++) {
        struct plan plan = plan_from(c, false);
        if (!extend(c, &plan, order[i]) || is_tried(c, plan.text))
            continue;
        *out = plan;
        return true;
    }
    return false;
}

/* The pragmas of a recipe, "map,scan"; "" where it has none. */
static const char *pragmas_of(const struct chooser *c, const char *text)
{
    static const char key[] = " simd=";
    const char *found = strstr(text, key);
    return found ? arena_strndup(c->arena, found + strlen(key), strcspn(found + strlen(key), " "))
                 : "";
}

/* Does the plan lose a pragma by this move? Another compiler may not have it: what an earlier move
 * did is then undone without a word. */
static bool loses_pragma(const struct chooser *c, const struct plan *before,
                         const struct plan *after)
{
    const char *kept = arena_printf(c->arena, ",%s,", pragmas_of(c, after->text));
    for (const char *at = pragmas_of(c, before->text); *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (!strstr(kept, arena_printf(c->arena, ",%.*s,", (int)length, at)))
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}

static const struct move_belief *beliefs_of(const struct chooser *c, const struct plan *plan)
{
    return plan->is_restart ? c->restart_beliefs : c->beliefs;
}

/* Takes moves by their draws; after each the better ones are looked at again, since one can make
 * another possible (a compiler, what only it can do). */
static void compose(struct chooser *c, size_t wanted, struct plan *plan)
{
    const size_t count = c->state->count;
    const double *draws = beliefs_draw(beliefs_of(c, plan), count, &c->rng, c->arena);
    const size_t *order = beliefs_rank(draws, count, c->arena);
    size_t i = 0;
    while (i < count && plan->move_count < wanted) {
        const size_t move = order[i];
        if (plan->move_count >= LARGE_MIN_MOVES && draws[move] < WORST_EXTRA_DRAW)
            return;
        struct plan next = *plan;
        if (uses_group(c, plan, c->state->catalogue[move].group) || !extend(c, &next, move) ||
            loses_pragma(c, plan, &next)) {
            i++;
            continue;
        }
        *plan = next;
        i = 0;
    }
}

static bool choose_several(struct chooser *c, struct plan *out)
{
    const bool can_restart = !str_equal(c->parent_text, c->plain_text);
    for (int attempt = 0; attempt < LARGE_ATTEMPTS; attempt++) {
        const bool is_restart = rng_uniform(&c->rng) < RESTART_SHARE && can_restart;
        const size_t wanted =
            LARGE_MIN_MOVES + (size_t)rng_below(&c->rng, LARGE_MAX_MOVES - LARGE_MIN_MOVES + 1);
        struct plan plan = plan_from(c, is_restart);
        compose(c, wanted, &plan);
        if (plan.move_count < LARGE_MIN_MOVES || is_tried(c, plan.text))
            continue;
        *out = plan;
        return true;
    }
    return false;
}

/* The last resort of a large step: every pair, so that exhausted means that nothing is left. */
static bool choose_any_pair(struct chooser *c, struct plan *out)
{
    const size_t count = c->state->count;
    const double *draws = beliefs_draw(c->beliefs, count, &c->rng, c->arena);
    const size_t *order = beliefs_rank(draws, count, c->arena);
    for (size_t i = 0; i < count; i++) {
        struct plan first = plan_from(c, false);
        if (!extend(c, &first, order[i]))
            continue;
        for (size_t j = 0; j < count; j++) {
            struct plan plan = first;
            if (uses_group(c, &first, c->state->catalogue[order[j]].group) ||
                !extend(c, &plan, order[j]) || is_tried(c, plan.text))
                continue;
            *out = plan;
            return true;
        }
    }
    return false;
}

static const char restart_words[] = "from the plain reference again: ";

bool propose_is_restart(const char *intent)
{
    return str_starts_with(intent, restart_words);
}

static const char *plan_words(const struct chooser *c, const struct plan *plan, bool with_evidence)
{
    CLEANUP(buf_free) struct buf words = {0};
    if (plan->is_restart)
        (void)buf_append_str(&words, restart_words);
    for (size_t i = 0; i < plan->move_count; i++) {
        const struct move *move = &c->state->catalogue[plan->moves[i]];
        (void)buf_append_str(&words, i == 0 ? "" : "; ");
        (void)buf_append_str(
            &words, with_evidence
                        ? belief_sentence(&beliefs_of(c, plan)[plan->moves[i]], move, c->arena)
                        : move->intent);
    }
    return arena_strdup(c->arena, buf_text(&words));
}

static bool fill_proposal(const struct chooser *c, const struct plan *plan, struct proposal *out,
                          struct err *err)
{
    if (!recipe_candidate(c->state->env, plan->recipe, c->arena, &out->candidate, err))
        return err_within(err, "recipe '%s'", plan->text);
    out->candidate.recipe = plan->text;
    out->intent = plan_words(c, plan, false);
    out->hypothesis = plan_words(c, plan, true);
    out->predicted_log_ratio = beliefs_expected(beliefs_of(c, plan), plan->moves, plan->move_count);
    if (plan->is_restart)
        out->predicted_log_ratio -= c->request->parent_log_ratio;
    for (size_t i = 0; i < plan->move_count; i++)
        out->moves[out->move_count++] =
            arena_strdup(c->arena, c->state->catalogue[plan->moves[i]].name);
    return true;
}

static bool offline_next(struct proposer *proposer, const struct propose_request *request,
                         struct arena *arena, bool *exhausted, struct proposal *out,
                         struct err *err)
{
    const struct offline_state *state = proposer->state;
    struct chooser c = {
        .state = state, .request = request, .arena = arena, .rng = rng_seeded(request->seed)};
    struct plan plan;
    const char *recipe = request->parent ? request->parent->recipe : NULL;
    c.parent = recipe_plain(state->env, arena);
    c.plain_text = recipe_text(c.parent, arena);
    if (recipe && recipe[0] != '\0' && !recipe_parse(state->env, recipe, arena, &c.parent, err))
        return err_within(err, "the recipe of the parent");
    c.parent_text = recipe_text(c.parent, arena);
    c.beliefs = beliefs_for(request, false, state->catalogue, state->count, arena);
    c.restart_beliefs = beliefs_for(request, true, state->catalogue, state->count, arena);
    sort_tried(&c);
    const bool found = request->large_step ? choose_several(&c, &plan) || choose_one(&c, &plan) ||
                                                 choose_any_pair(&c, &plan)
                                           : choose_one(&c, &plan);
    if (!found) {
        *exhausted = true;
        return true;
    }
    return fill_proposal(&c, &plan, out, err);
}

const struct proposer_driver proposer_driver_offline = {
    .version = PROPOSER_DRIVER_VERSION,
    .name = "offline",
    .summary = "moves on the reference, chosen by experience; no network",
    .state_bytes = sizeof(struct offline_state),
    .open = offline_open,
    .next = offline_next,
};

/* Skills in a run: what it may begin with, what its prompts show, what it learned about them. */
#include "engine/skill_store.h"

#include "base/str.h"
#include "propose/belief.h"
#include "skill/markdown.h"

#include <math.h>

enum { MAX_OFFERS = 12, MAX_COMPOSED = 12, BASE_MOVES = 3 };
/* Moves that are expected to gain less are not worth their place below the skills. */
#define LEAST_GAIN 0.02
/* By so much, in log-ratio, must the run's own move on the nest promise more to stay. */
#define CLEARLY_MORE 0.3
/* Of a gain that has no noise of its own: two measurements of a search. */
#define REUSE_NOISE 0.01

/* What a change begins with that is moves by name. */
static const char structure_word[] = "do=";

static bool select_here(struct run *run, uint64_t seed, struct arena *arena,
                        const struct skill_pick **out, size_t *out_count, struct err *err)
{
    struct skill_facts *facts = arena_alloc(arena, sizeof *facts);
    size_t broken = 0;
    skill_facts_of_run(run, facts);
    const char *words = arena_printf(arena, "%s %s", run->task->name, run->task->summary);
    const struct skill_request request = {.facts = facts,
                                          .scope = skill_scope_of(facts, run),
                                          .words = words,
                                          .seed = seed,
                                          .verified_only = true};
    return skill_select(run->memory.graph, &request, arena, out, out_count, &broken, err);
}

bool skill_offers(struct run *run, struct arena *arena, const struct context_offer **out,
                  size_t *out_count, struct err *err)
{
    const struct skill_pick *picks = NULL;
    size_t count = 0;
    if (!select_here(run, run->opts.seed, arena, &picks, &count, err))
        return false;
    struct context_offer *offers = arena_array(arena, count + 1, sizeof *offers);
    size_t offered = 0;
    for (size_t i = 0; i < count && offered < MAX_OFFERS; i++) {
        if (picks[i].score <= 0.0)
            continue;
        offers[offered++] = (struct context_offer){.kind = CONTEXT_SKILL,
                                                   .ref = picks[i].skill->name,
                                                   .text = picks[i].text,
                                                   .score = picks[i].score};
    }
    *out = offers;
    *out_count = offered;
    return true;
}

static bool file_of(struct run *run, const struct skill_pick *pick, struct arena *arena,
                    struct propose_skill *out, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct graph_skill_evidence *evidence = NULL;
    struct skill_document d = {.skill = pick->skill, .belief = &pick->belief};
    if (!graph_skill_evidence(run->memory.graph, pick->skill->id, arena, &evidence,
                              &d.evidence_count, err) ||
        !memory_get_text(&run->memory, pick->skill->before_body, arena, &d.before, err) ||
        !memory_get_text(&run->memory, pick->skill->after_body, arena, &d.after, err))
        return false;
    d.evidence = evidence;
    skill_write_markdown(&d, &text);
    *out = (struct propose_skill){pick->skill->name, arena_strdup(arena, buf_text(&text))};
    return true;
}

bool skill_files(struct run *run, struct arena *arena, const struct propose_skill **out,
                 size_t *out_count, struct err *err)
{
    const struct skill_pick *picks = NULL;
    size_t count = 0;
    if (!select_here(run, run->opts.seed, arena, &picks, &count, err))
        return false;
    count = count < MAX_OFFERS ? count : MAX_OFFERS;
    struct propose_skill *files = arena_array(arena, count + 1, sizeof *files);
    size_t written = 0;
    for (size_t i = 0; i < count; i++) {
        /* What came from outside names a folder here. */
        if (!skill_name_problem(picks[i].skill->name) &&
            !file_of(run, &picks[i], arena, &files[written++], err))
            return false;
    }
    *out = files;
    *out_count = written;
    return true;
}

/* Moves that promise most here, and on top of them the skills that apply, in the order of what is
 * expected of them. Skills alone would stand where no run begins, and compete with candidates of
 * several moves: what they add is to be seen. */
struct composition {
    const struct recipe *recipe;
    const char *names, *uses;
    const char *moves[BASE_MOVES + MAX_COMPOSED];
    size_t move_count;
    double log_ratio; /* expected of all of it */
    size_t count;     /* of skills that it is made by */
    bool on_moves;    /* that promise most */
    bool is_whole;    /* a structure is below the others */
    size_t held;      /* of skills whose change the moves hold already */
};

static bool has_group(const struct run *run, const size_t *taken, size_t count, const char *group)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(run->catalogue[taken[i]].group, group))
            return true;
    }
    return false;
}

/* Of each group the move that is believed in most, as a proposer would on average. */
static bool begin_with_moves(struct run *run, struct composition *out, struct err *err)
{
    struct move_belief *beliefs = NULL;
    size_t count = 0;
    size_t taken[BASE_MOVES];
    if (!remember_beliefs(run, run->arena, &beliefs, &count, err))
        return false;
    double *means = arena_array(run->arena, count + 1, sizeof *means);
    for (size_t i = 0; i < count; i++)
        means[i] = beliefs[i].mean * (1.0 - beliefs[i].failure_rate);
    const size_t *order = beliefs_rank(means, count, run->arena);
    for (size_t i = 0; i < count && out->move_count < BASE_MOVES; i++) {
        const struct move *move = &run->catalogue[order[i]];
        const struct recipe *next = NULL;
        const char *why = NULL;
        if (means[order[i]] < LEAST_GAIN)
            break;
        if (has_group(run, taken, out->move_count, move->group) ||
            !move_apply(&run->moves, move, out->recipe, run->arena, &next, &why))
            continue;
        taken[out->move_count] = order[i];
        out->moves[out->move_count++] = move->name;
        out->recipe = next;
    }
    out->log_ratio = beliefs_expected(beliefs, taken, out->move_count);
    out->on_moves = out->move_count > 0;
    return true;
}

static bool is_usable(const struct skill_pick *pick)
{
    struct err ignored;
    return pick->skill->change[0] != '\0' && pick->belief.effect.mean > 0.0 &&
           moves_check_changes(pick->skill->change, &ignored);
}

static void add_skill(struct run *run, const struct skill_pick *pick, const struct recipe *next,
                      struct composition *out)
{
    const char *name = pick->skill->name;
    out->recipe = next;
    out->names = arena_printf(run->arena, "%s%s%s", out->names, out->count ? ", " : "", name);
    out->uses = arena_printf(run->arena, "%s%sskill:%s", out->uses, out->count ? " " : "", name);
    out->log_ratio += pick->belief.effect.mean;
    out->count++;
}

/* Moves by name: a whole order of loops with what goes with it. */
static bool is_structure(const struct skill_pick *pick)
{
    return str_starts_with(pick->skill->change, structure_word);
}

static bool change_to(struct run *run, const struct skill_pick *pick, const struct recipe *from,
                      const struct recipe **next)
{
    const struct move move = {.name = pick->skill->name, .changes = pick->skill->change};
    const char *why = NULL;
    return is_usable(pick) && move_apply(&run->moves, &move, from, run->arena, next, &why);
}

static bool has_name(const char *names, const char *name)
{
    static const char between[] = " ,=";
    for (const char *at = names; *(at += strspn(at, between)); at += strcspn(at, between)) {
        if (strcspn(at, between) == strlen(name) && str_starts_with(at, name))
            return true;
    }
    return false;
}

/* Of the moves on the nest that are named there: "do=vectorize,nest-vectors-4". */
static double promise_on_nest(const struct run *run, const char *names)
{
    double most = 0.0;
    for (size_t i = 0; i < run->catalogue_count; i++) {
        const struct move *move = &run->catalogue[i];
        if (str_equal(move->group, "nest") && has_name(names, move->name) &&
            move->prior_log_ratio > most)
            most = move->prior_log_ratio;
    }
    return most;
}

static const char *names_of(const struct run *run, const struct composition *made)
{
    const char *names = "";
    for (size_t i = 0; i < made->move_count; i++)
        names = arena_printf(run->arena, "%s %s", names, made->moves[i]);
    return names;
}

/* At most one order of loops: the one that is believed in most of those that apply, unless the
 * run's own promises clearly more for the loops at hand. It was measured as a whole, on the plain
 * reference, and takes the place of the run's own moves. */
static void begin_with_structure(struct run *run, const struct skill_pick *picks, size_t count,
                                 struct composition *out)
{
    const double own = promise_on_nest(run, names_of(run, out));
    const struct recipe *plain = recipe_plain(&run->moves, run->arena);
    const struct recipe *next = NULL;
    size_t i = 0;
    while (i < count && (!is_structure(&picks[i]) ||
                         promise_on_nest(run, picks[i].skill->change) + CLEARLY_MORE < own ||
                         !change_to(run, &picks[i], plain, &next)))
        i++;
    if (i == count)
        return;
    const char *names = picks[i].skill->change + strlen(structure_word);
    *out = (struct composition){.names = "", .uses = "", .is_whole = true};
    add_skill(run, &picks[i], next, out);
    for (const char *at = names; *at; at += *at == ',') {
        const size_t length = strcspn(at, ", ");
        if (out->move_count < BASE_MOVES + MAX_COMPOSED)
            out->moves[out->move_count++] = arena_strndup(run->arena, at, length);
        at += length;
        if (*at == ' ')
            break;
    }
}

/* Then what goes with any order. A skill that the moves hold changes nothing on top of them, and
 * something without. */
static void add_skills(struct run *run, const struct skill_pick *picks, size_t count,
                       struct composition *out)
{
    const struct recipe *plain = recipe_plain(&run->moves, run->arena);
    begin_with_structure(run, picks, count, out);
    for (size_t i = 0; i < count && out->count < MAX_COMPOSED; i++) {
        const struct recipe *next = NULL;
        if (is_structure(&picks[i]))
            continue;
        if (change_to(run, &picks[i], out->recipe, &next)) {
            if (out->move_count < BASE_MOVES + MAX_COMPOSED)
                out->moves[out->move_count++] = picks[i].skill->name;
            add_skill(run, &picks[i], next, out);
        } else if (out->count == 0) {
            out->held += change_to(run, &picks[i], plain, &next);
        }
    }
}

/* As much of what is expected as the words match: the effects of two skills that apply were
 * measured on different tasks. */
static double worth_of(const struct skill_pick *pick)
{
    return pick->belief.effect.mean * (0.5 + 0.5 * pick->match);
}

/* By what is expected, not by a draw: this is one attempt, not one of many. */
static void sort_by_worth(struct skill_pick *picks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct skill_pick pick = picks[i];
        size_t at = i;
        for (; at > 0 && worth_of(&picks[at - 1]) < worth_of(&pick); at--)
            picks[at] = picks[at - 1];
        picks[at] = pick;
    }
}

static const char *start_words(struct run *run, const struct composition *made)
{
    return arena_printf(run->arena, "begin with the skills that apply here: %s%s", made->names,
                        made->on_moves ? ", on the moves that promise most" : "");
}

/* Skills that add nothing cost no candidate. */
static void say_held(struct run *run, const struct composition *made)
{
    if (made->held != 0)
        run_notify(
            run, PROGRESS_REMEMBERED,
            &(struct progress){.text = arena_printf(run->arena,
                                                    "%zu verified skill%s here: the moves that "
                                                    "promise most do the same",
                                                    made->held, made->held == 1 ? "" : "s")});
}

static void say_start(struct run *run, const struct composition *made)
{
    run->started_from_memory = true;
    if (run->start_text[0] != '\0')
        return;
    run->start_text = arena_printf(run->arena, "%zu verified skill%s here: %s", made->count,
                                   made->count == 1 ? "" : "s", made->names);
    run_notify(run, PROGRESS_REMEMBERED, &(struct progress){.text = run->start_text});
}

bool skill_start(struct run *run, struct err *err)
{
    const struct skill_pick *picks = NULL;
    size_t count = 0;
    struct composition made = {.names = "", .uses = ""};
    struct proposal proposal = {0};
    if (!select_here(run, run->opts.seed, run->arena, &picks, &count, err))
        return false;
    if (count == 0)
        return true;
    made.recipe = recipe_plain(&run->moves, run->arena);
    struct skill_pick *sorted = arena_memdup(run->arena, picks, count * sizeof *picks);
    sort_by_worth(sorted, count);
    if (!begin_with_moves(run, &made, err))
        return false;
    add_skills(run, sorted, count, &made);
    if (made.count == 0) {
        say_held(run, &made);
        return true;
    }
    if (!recipe_candidate(&run->moves, made.recipe, run->arena, &proposal.candidate, err))
        return false;
    proposal.intent = start_words(run, &made);
    proposal.hypothesis =
        arena_printf(run->arena, "each of them was faster elsewhere; together %.2fx is expected",
                     exp(made.log_ratio));
    proposal.predicted_log_ratio = made.log_ratio;
    /* Alone they are evidence of themselves, as a structure is (skill_of); on moves the gain is not
     * theirs. */
    for (size_t i = 0; (made.on_moves || made.is_whole) && i < made.move_count; i++)
        proposal.moves[proposal.move_count++] = made.moves[i];
    say_start(run, &made);
    const char *const uses[] = {made.uses};
    const struct step_input input = {.parent = SEARCH_ROOT,
                                     .step = "remembered",
                                     .derived_from = "",
                                     .context_id = "",
                                     .uses = uses,
                                     .proposal = &proposal};
    return step_judge(run, &input, err);
}

/* Are these moves, with blanks between, all that the skill does? */
static bool is_all_of(const struct graph_skill *skill, const char *moves)
{
    const char *names = skill->change + strlen(structure_word);
    if (!str_starts_with(skill->change, structure_word) || strlen(names) != strlen(moves))
        return false;
    for (; *names; names++, moves++) {
        if (*names != (*moves == ' ' ? ',' : *moves))
            return false;
    }
    return true;
}

/* The skill that a decision differs by from its parent, where it is one alone: the only move, or
 * the only thing that the proposer says it used, which may be several moves by name. */
static const struct graph_skill *skill_of(const struct graph_decision *d,
                                          const struct graph_skill *skills, size_t count)
{
    static const char prefix[] = "skill:";
    const char *used = str_starts_with(d->uses, prefix) ? d->uses + strlen(prefix) : d->uses;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(skills[i].name, d->moves[0] != '\0' ? d->moves : used) ||
            (str_equal(skills[i].name, used) && is_all_of(&skills[i], d->moves)))
            return &skills[i];
    }
    return NULL;
}

static const struct graph_decision *parent_of(const struct graph_decisions *all,
                                              const struct graph_decision *d)
{
    for (size_t i = 0; i < all->count; i++) {
        if (str_equal(all->items[i].id, d->parent))
            return &all->items[i];
    }
    return NULL;
}

/* The gain over the parent with both errors in its interval. */
static bool note_reuse(struct run *run, const struct graph_decisions *all,
                       const struct graph_decision *d, const struct graph_skill *skill,
                       struct err *err)
{
    const struct graph_decision *parent = parent_of(all, d);
    struct skill_trial trial = {0};
    double low = d->log_ratio - d->log_low;
    double high = d->log_high - d->log_ratio;
    if (parent) {
        low = hypot(low, parent->log_high - parent->log_ratio);
        high = hypot(high, parent->log_ratio - parent->log_low);
    }
    const struct skill_measurement m = {.skill_id = skill->id,
                                        .kind = "reuse",
                                        .decision_id = d->id,
                                        .text = d->intent,
                                        .verdict = verdict_kind_name(d->kind),
                                        .log_ratio = d->gain,
                                        .log_low = d->gain - low,
                                        .log_high = d->gain + high};
    const int sign = verdict_difference(m.log_low, m.log_high, REUSE_NOISE).sign;
    /* One of many that a search tried: it can speak against a skill, never admit one. */
    return skill_store_evidence(run, &m, err) && skill_settle(run, skill, sign, false, &trial, err);
}

bool skill_note_reuses(struct run *run, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct graph_skill *skills = NULL;
    size_t count = 0;
    struct graph_decisions all;
    if (run->replay)
        return true;
    if (!graph_skills(run->memory.graph, &scratch, &skills, &count, err))
        return false;
    if (count == 0)
        return true;
    if (!graph_run_decisions(run->memory.graph, run->run_id, &scratch, &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        const struct graph_decision *d = &all.items[i];
        const struct graph_skill *skill = skill_of(d, skills, count);
        if (!skill || !d->has_outcome || d->kind != VERDICT_TIMED || !d->has_gain)
            continue;
        if (!note_reuse(run, &all, d, skill, err))
            return false;
    }
    return true;
}

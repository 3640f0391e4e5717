/*
 * Which moves answer what was found for a state: the table of profile/finding.c as a prior, and
 * what steps gained from states that the same was found for, on any task of this memory.
 */
#include "engine/internal.h"

#include "base/str.h"
#include "graph/findings.h"

#include <math.h>

enum { MOST_ANSWERS = 4, MOST_KINDS = 12 };
/* What the first move of the table is expected to gain for that alone, in log-ratio, the next ones
 * a tenth less each; as many steps it counts as; from where on a gain is worth to be named. */
#define TABLE_GAIN 0.2
#define TABLE_WEIGHT 4.0
#define LEAST_GAIN 0.02
/* Steps from such states against all that is believed of a move. */
#define BELIEF_WEIGHT 4.0

/* Of a move of the catalogue, where the kinds are found. */
struct answer {
    double prior;      /* by the table; 0: it is not in it */
    double count, sum; /* steps and their gains, of the kind with most of them */
    int64_t failures;
};

static double posterior(const struct answer *a)
{
    const double mean = (TABLE_WEIGHT * a->prior + a->sum) / (TABLE_WEIGHT + a->count);
    const double tries = a->count + (double)a->failures;
    return mean > 0.0 ? mean * (1.0 - (double)a->failures / (tries + 1.0)) : mean;
}

static void take_table(const struct run *run, const char *kind_name, struct answer *answers)
{
    enum finding_kind kind;
    if (!finding_kind_parse(kind_name, &kind))
        return; /* a roofline class */
    for (size_t i = 0; i < run->catalogue_count; i++) {
        const int rank = finding_move_rank(kind, run->catalogue[i].name);
        if (rank >= 0)
            answers[i].prior = fmax(answers[i].prior, TABLE_GAIN * (1.0 - 0.1 * rank));
    }
}

static bool take_gains(struct run *run, const char *kind_name, struct arena *arena,
                       struct answer *answers, struct err *err)
{
    const struct graph_kind_gain *gains = NULL;
    size_t count = 0;
    if (!graph_gains_of_kind(run->memory.graph, kind_name, arena, &gains, &count, err))
        return false;
    for (size_t i = 0; i < run->catalogue_count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (!str_equal(gains[k].move, run->catalogue[i].name) ||
                gains[k].count + (double)gains[k].failures <=
                    answers[i].count + (double)answers[i].failures)
                continue;
            answers[i].count = gains[k].count;
            answers[i].sum = gains[k].sum;
            answers[i].failures = gains[k].failures;
        }
    }
    return true;
}

/* One for each move of the catalogue; `kinds` as the graph gives them. */
static bool learn(struct run *run, const char *kinds, struct arena *arena, struct answer **out,
                  struct err *err)
{
    struct answer *answers = arena_array(arena, run->catalogue_count + 1, sizeof *answers);
    size_t count = 0;
    for (const char *at = kinds; *at && count < MOST_KINDS; count++) {
        const size_t length = strcspn(at, " ");
        const char *kind = arena_strndup(arena, at, length);
        at += length;
        at += strspn(at, " ");
        take_table(run, kind, answers);
        if (!take_gains(run, kind, arena, answers, err))
            return false;
    }
    *out = answers;
    return true;
}

/* The family of a name: moves of one answer alike. */
static bool same_family(const struct run *run, enum finding_kind kind, size_t a, size_t b)
{
    const int rank = finding_move_rank(kind, run->catalogue[a].name);
    return rank >= 0 && rank == finding_move_rank(kind, run->catalogue[b].name);
}

/* The best by their posterior, one of a family, none twice. */
static size_t choose(const struct run *run, enum finding_kind kind, const struct answer *answers,
                     size_t *chosen)
{
    size_t count = 0;
    while (count < MOST_ANSWERS) {
        size_t best = run->catalogue_count;
        for (size_t i = 0; i < run->catalogue_count; i++) {
            bool is_out = posterior(&answers[i]) <= LEAST_GAIN;
            for (size_t k = 0; k < count; k++)
                is_out = is_out || chosen[k] == i || same_family(run, kind, chosen[k], i);
            if (!is_out && (best == run->catalogue_count ||
                            posterior(&answers[i]) > posterior(&answers[best])))
                best = i;
        }
        if (best == run->catalogue_count)
            break;
        chosen[count++] = best;
    }
    return count;
}

bool answers_to(struct run *run, enum finding_kind kind, struct arena *arena, const char **moves,
                const char **learned, struct err *err)
{
    struct answer *answers = NULL;
    size_t chosen[MOST_ANSWERS];
    if (!learn(run, finding_kind_name(kind), arena, &answers, err))
        return false;
    *moves = *learned = "";
    const size_t count = choose(run, kind, answers, chosen);
    for (size_t i = 0; i < count; i++) {
        const struct answer *a = &answers[chosen[i]];
        const char *name = run->catalogue[chosen[i]].name;
        *moves = arena_printf(arena, "%s%s%s", *moves, i ? ", " : "", name);
        if (a->count >= 1.0)
            *learned = arena_printf(arena, "%s%s%s %.2fx in %.0f step%s", *learned,
                                    (*learned)[0] ? ", " : "", name, exp(a->sum / a->count),
                                    a->count, a->count < 2.0 ? "" : "s");
    }
    return true;
}

bool answers_to_profile(struct run *run, const struct profile *profile, struct arena *arena,
                        struct profile_line **out, struct err *err)
{
    struct profile_line *lines = arena_array(arena, profile->count + 1, sizeof *lines);
    for (size_t i = 0; i < profile->count; i++) {
        const struct finding *f = &profile->findings[i];
        lines[i] = (struct profile_line){.kind = finding_kind_name(f->kind),
                                         .tool = f->tool,
                                         .text = f->text,
                                         .number = f->number,
                                         .line = f->line};
        if (!answers_to(run, f->kind, arena, &lines[i].moves, &lines[i].learned, err))
            return false;
    }
    *out = lines;
    return true;
}

bool answers_believe(struct run *run, const char *decision_id, struct arena *arena,
                     struct move_belief *beliefs, size_t count, struct err *err)
{
    const char *kinds = NULL;
    struct answer *answers = NULL;
    if (!graph_finding_kinds(run->memory.graph, run->run_id, decision_id, arena, &kinds, err))
        return false;
    if (kinds[0] == '\0')
        return true;
    if (!learn(run, kinds, arena, &answers, err))
        return false;
    for (size_t i = 0; i < run->catalogue_count && i < count; i++) {
        const struct answer *a = &answers[i];
        if (!str_equal(beliefs[i].move, run->catalogue[i].name))
            BUG("engine: beliefs are not in the order of the catalogue");
        beliefs[i].mean += a->prior * TABLE_WEIGHT / (TABLE_WEIGHT + a->count);
        if (a->count > 0.0)
            beliefs[i].mean +=
                (a->sum / a->count - beliefs[i].mean) * a->count / (a->count + BELIEF_WEIGHT);
    }
    return true;
}

/* What steps gained from where a kind was found, as one line of experience. */
static const char *offer_text(const char *learned, struct arena *arena)
{
    return arena_printf(arena, "where it was found, steps gained: %s", learned);
}

bool answers_offer(struct run *run, const char *kinds, struct arena *arena,
                   struct context_request *request, struct err *err)
{
    struct context_offer *offers =
        arena_array(arena, request->offer_count + MOST_KINDS + 1, sizeof *offers);
    size_t count = request->offer_count;
    if (count > 0)
        memcpy(offers, request->offers, count * sizeof *offers);
    for (const char *at = kinds; *at && count < request->offer_count + MOST_KINDS;) {
        const size_t length = strcspn(at, " ");
        const char *name = arena_strndup(arena, at, length);
        const char *moves = "";
        const char *learned = "";
        enum finding_kind kind;
        at += length;
        at += strspn(at, " ");
        if (!finding_kind_parse(name, &kind))
            continue;
        if (!answers_to(run, kind, arena, &moves, &learned, err))
            return false;
        if (learned[0])
            offers[count++] = (struct context_offer){.kind = CONTEXT_FINDING,
                                                     .ref = finding_kind_name(kind),
                                                     .text = offer_text(learned, arena),
                                                     .score = TABLE_GAIN};
    }
    request->offers = offers;
    request->offer_count = count;
    return true;
}

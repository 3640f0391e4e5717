/* Which skills to show or try here: those that apply, by a draw from what is believed of them. */
#include "skill/skill.h"

#include "base/rng.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* A skill that shares no word with the task counts this much. */
#define MATCH_AT_LEAST 0.5

static double match_of(const struct graph_skill_match *matches, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(matches[i].skill_id, id))
            return matches[0].score > 0.0 ? matches[i].score / matches[0].score : 0.0;
    }
    return 0.0;
}

static bool is_wanted(const struct graph_skill *skill, const struct skill_request *request)
{
    const enum skill_state state = skill_state_from_name(skill->state);
    return state == SKILL_VERIFIED || (state == SKILL_CANDIDATE && !request->verified_only);
}

static char *line_of(const struct graph_skill *skill, const struct skill_belief *belief,
                     struct arena *arena)
{
    return arena_printf(arena, "%s; %s: %s%s%s%s%s", skill->state,
                        skill_evidence_text(belief, arena), skill->intent,
                        skill->change[0] ? "; change: " : "", skill->change,
                        skill->breaks[0] ? "; can break: " : "", skill->breaks);
}

static int by_score(const void *a, const void *b)
{
    const struct skill_pick *x = a;
    const struct skill_pick *y = b;
    if (x->score < y->score || x->score > y->score)
        return x->score > y->score ? -1 : 1;
    return strcmp(x->skill->id, y->skill->id);
}

/* The same seed and skill, the same draw, whatever other skills there are. */
static double draw(const struct graph_skill *skill, const struct skill_belief *belief,
                   uint64_t seed)
{
    struct rng rng = rng_seeded(seed ^ hash_fnv1a(skill->id, strlen(skill->id)));
    return belief->effect.mean + belief->effect.sd * rng_normal(&rng);
}

static bool consider(struct graph *graph, const struct skill_request *request,
                     const struct graph_skill *skill, struct arena *arena, struct skill_pick *pick,
                     bool *taken, bool *is_broken, struct err *err)
{
    const struct graph_skill_evidence *evidence = NULL;
    size_t count = 0;
    bool applies = false;
    const char *why = "";
    struct err problem;
    *taken = false;
    *is_broken = !skill_applies(skill, request->facts, arena, &applies, &why, &problem);
    if (*is_broken || !applies || !is_wanted(skill, request))
        return true;
    if (!graph_skill_evidence(graph, skill->id, arena, &evidence, &count, err))
        return false;
    *pick = (struct skill_pick){.skill = skill,
                                .belief = skill_believe(evidence, count, &request->scope)};
    pick->text = line_of(skill, &pick->belief, arena);
    *taken = true;
    return true;
}

bool skill_select(struct graph *graph, const struct skill_request *request, struct arena *arena,
                  const struct skill_pick **out, size_t *out_count, size_t *broken, struct err *err)
{
    const struct graph_skill *skills = NULL;
    const struct graph_skill_match *matches = NULL;
    size_t skill_count = 0;
    size_t match_count = 0;
    size_t count = 0;
    const char *words = arena_printf(arena, "%s %s", request->words ? request->words : "",
                                     skill_facts_words(request->facts, arena));
    if (!graph_skills(graph, arena, &skills, &skill_count, err) ||
        !graph_match_skills(graph, words, arena, &matches, &match_count, err))
        return false;
    struct skill_pick *picks = arena_array(arena, skill_count + 1, sizeof *picks);
    *broken = 0;
    for (size_t i = 0; i < skill_count; i++) {
        bool taken = false;
        bool is_broken = false;
        struct skill_pick *pick = &picks[count];
        if (!consider(graph, request, &skills[i], arena, pick, &taken, &is_broken, err))
            return false;
        *broken += is_broken;
        if (!taken)
            continue;
        pick->match = match_of(matches, match_count, skills[i].id);
        pick->score = draw(&skills[i], &pick->belief, request->seed) *
                      (MATCH_AT_LEAST + (1.0 - MATCH_AT_LEAST) * pick->match);
        count++;
    }
    if (count > 1)
        qsort(picks, count, sizeof *picks, by_score);
    *out = picks;
    *out_count = request->limit && request->limit < count ? request->limit : count;
    return true;
}

#include "skill/skill.h"

#include "base/str.h"
#include "moves/moves.h"
#include "skill/predicate.h"

#include <assert.h>
#include <string.h>

static const char *const state_names[] = {
    [SKILL_CANDIDATE] = "candidate",
    [SKILL_VERIFIED] = "verified",
    [SKILL_CONTRADICTED] = "contradicted",
    [SKILL_RETIRED] = "retired",
};
static_assert(sizeof state_names / sizeof *state_names == SKILL_STATE_COUNT, "name each state");

const char *skill_state_name(enum skill_state state)
{
    return state_names[state];
}

enum skill_state skill_state_from_name(const char *name)
{
    for (int i = 0; i < SKILL_STATE_COUNT; i++) {
        if (str_equal(state_names[i], name))
            return (enum skill_state)i;
    }
    return SKILL_CANDIDATE;
}

const char *skill_name_problem(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > SKILL_NAME_BYTES)
        return "it has 1 to 64 characters";
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != length)
        return "it has lower-case letters, digits and hyphens only";
    if (name[0] == '-' || name[length - 1] == '-' || strstr(name, "--"))
        return "hyphens stand alone, between other characters";
    return NULL;
}

struct graph_skill skill_blank(const char *origin)
{
    return (struct graph_skill){.id = "",
                                .name = "",
                                .intent = "",
                                .applies = "",
                                .needs = "",
                                .change = "",
                                .breaks = "",
                                .origin = origin,
                                .learned_on = "",
                                .before_body = "",
                                .after_body = "",
                                .build = "",
                                .state = skill_state_name(SKILL_CANDIDATE),
                                .reason = ""};
}

struct hash_id skill_make_id(const struct graph_skill *skill)
{
    /* Where there is a change, the example only illustrates it. */
    const bool is_example = skill->change[0] == '\0';
    const char *parts[] = {skill->name,
                           skill->applies,
                           skill->needs,
                           skill->change,
                           is_example ? skill->before_body : "",
                           is_example ? skill->after_body : "",
                           is_example ? skill->build : ""};
    return hash_strings(parts, sizeof parts / sizeof *parts);
}

bool skill_check(const struct graph_skill *skill, struct err *err)
{
    const char *problem = skill_name_problem(skill->name);
    if (problem)
        return err_set(err, ERR_BAD_INPUT, "'%.80s' is no name of a skill: %s", skill->name,
                       problem);
    if (skill->intent[0] == '\0' || strlen(skill->intent) > SKILL_INTENT_BYTES)
        return err_set(err, ERR_BAD_INPUT, "the intent of '%s' has 1 to %d bytes", skill->name,
                       (int)SKILL_INTENT_BYTES);
    return (predicate_check(skill->applies, err) && predicate_check(skill->needs, err) &&
            moves_check_changes(skill->change, err)) ||
           err_within(err, "skill '%s'", skill->name);
}

bool skill_find(const struct graph_skill *skills, size_t count, const char *name,
                const struct graph_skill **out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const char **names = arena_array(&scratch, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        names[i] = skills[i].name;
        if (str_equal(skills[i].name, name) ||
            (strlen(name) >= 6 && str_starts_with(skills[i].id, name))) {
            *out = &skills[i];
            return true;
        }
    }
    (void)err_set(err, ERR_NOT_FOUND, "there is no skill '%.80s'", name);
    const char *nearest = str_nearest(name, names, count);
    return nearest ? err_hint(err, "did you mean '%s'? 'kope skill list' shows all", nearest)
                   : err_hint(err, "'kope skill list' shows all");
}

bool skill_applies(const struct graph_skill *skill, const struct skill_facts *facts,
                   struct arena *arena, bool *applies, const char **why, struct err *err)
{
    const char *const parts[] = {skill->applies, skill->needs};
    for (size_t i = 0; i < 2; i++) {
        if (!predicate_holds(parts[i], facts, arena, applies, why, err))
            return err_within(err, "skill '%s'", skill->name);
        if (!*applies)
            return true;
    }
    return true;
}

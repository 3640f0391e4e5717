/* What is known of a skill's effect, and what it counts as. */
#include "skill/skill.h"

#include "base/str.h"

#include <math.h>

/* Before anything was measured: no effect, give or take a third; worth two values. */
#define PRIOR_SD 0.3
#define PRIOR_COUNT 2.0
#define SPREAD_AT_LEAST 0.02
#define TWO_SIDED_95 1.96
enum { RETIRE_AFTER = 3, SCOPES = 4 };

static bool is_in_scope(const struct graph_skill_evidence *e, const struct skill_scope *scope,
                        int level)
{
    if (level >= 1 && !str_equal(e->family, scope->family))
        return false;
    if (level >= 2 && !str_equal(e->target_id, scope->target_id))
        return false;
    return level < 3 || str_equal(e->regime, scope->regime);
}

/* How many of the scope's levels are asked for. */
static int levels_of(const struct skill_scope *scope)
{
    if (!scope || !scope->family || scope->family[0] == '\0')
        return 1;
    if (!scope->target_id || scope->target_id[0] == '\0')
        return 2;
    return scope->regime && scope->regime[0] != '\0' ? SCOPES : 3;
}

static bool is_timed(const struct graph_skill_evidence *e)
{
    return str_equal(e->verdict, "timed") && !str_equal(e->kind, "failure");
}

static bool is_seen_before(const struct graph_skill_evidence *evidence, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (is_timed(&evidence[i]) && str_equal(evidence[i].task_id, evidence[at].task_id))
            return true;
    }
    return false;
}

static struct stats_posterior narrow(const struct graph_skill_evidence *evidence, size_t count,
                                     const struct skill_scope *scope, int level,
                                     struct stats_posterior prior)
{
    double sum = 0.0;
    double squares = 0.0;
    double n = 0.0;
    for (size_t i = 0; i < count; i++) {
        const struct graph_skill_evidence *e = &evidence[i];
        if (!is_timed(e) || !is_in_scope(e, scope, level))
            continue;
        sum += e->log_ratio;
        squares += e->log_ratio * e->log_ratio;
        n += 1.0;
    }
    if (n < 1.0)
        return prior;
    return stats_shrink(sum, squares, n, prior.mean, PRIOR_COUNT, fmax(prior.sd, SPREAD_AT_LEAST));
}

struct skill_belief skill_believe(const struct graph_skill_evidence *evidence, size_t count,
                                  const struct skill_scope *scope)
{
    struct skill_belief belief = {.effect = {.mean = 0.0, .sd = PRIOR_SD}};
    const int levels = levels_of(scope);
    for (int level = 0; level < levels; level++)
        belief.effect = narrow(evidence, count, scope, level, belief.effect);
    for (size_t i = 0; i < count; i++) {
        if (!is_timed(&evidence[i])) {
            belief.failed += !str_equal(evidence[i].verdict, "too-noisy");
            continue;
        }
        belief.timed++;
        belief.sum += evidence[i].log_ratio;
        belief.tasks += !is_seen_before(evidence, i);
    }
    belief.low = belief.effect.mean - TWO_SIDED_95 * belief.effect.sd;
    belief.high = belief.effect.mean + TWO_SIDED_95 * belief.effect.sd;
    return belief;
}

enum skill_state skill_next_state(enum skill_state now, int sign, bool is_elsewhere,
                                  const struct skill_belief *everywhere, struct arena *arena,
                                  const char **reason)
{
    const char *text = skill_evidence_text(everywhere, arena);
    *reason = NULL;
    if (everywhere->timed >= RETIRE_AFTER && everywhere->high < 0.0 && now != SKILL_RETIRED) {
        *reason = arena_printf(arena, "slower by all that was measured: %s", text);
        return SKILL_RETIRED;
    }
    if (sign < 0 && now != SKILL_RETIRED && now != SKILL_CONTRADICTED &&
        !(now == SKILL_VERIFIED && everywhere->low > 0.0)) {
        *reason = arena_printf(arena, "a trial was slower with it: %s", text);
        return SKILL_CONTRADICTED;
    }
    /* Who was contradicted once has to win back what all the evidence says. */
    const bool is_doubted = now == SKILL_CONTRADICTED || now == SKILL_RETIRED;
    if (sign > 0 && is_elsewhere && now != SKILL_VERIFIED &&
        (!is_doubted || everywhere->low > 0.0)) {
        *reason = arena_printf(arena, "a fresh trial elsewhere was faster with it: %s", text);
        return SKILL_VERIFIED;
    }
    return now;
}

char *skill_evidence_text(const struct skill_belief *belief, struct arena *arena)
{
    if (belief->timed == 0 && belief->failed == 0)
        return arena_strdup(arena, "nothing measured yet");
    const char *failures =
        belief->failed ? arena_printf(arena, "; %lld that failed", (long long)belief->failed) : "";
    if (belief->timed == 0)
        return arena_printf(arena, "nothing timed%s", failures);
    return arena_printf(arena, "%lld measurement%s on %lld task%s, %.2fx [%.2f, %.2f]%s",
                        (long long)belief->timed, belief->timed == 1 ? "" : "s",
                        (long long)belief->tasks, belief->tasks == 1 ? "" : "s",
                        exp(belief->effect.mean), exp(belief->low), exp(belief->high), failures);
}

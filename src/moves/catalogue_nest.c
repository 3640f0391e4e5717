/* The catalogue's moves on the loop nest of the task at hand: sequences for what it looks like, and
 * single steps to try on top of one. */
#include "moves/internal.h"
#include "moves/nest/pattern.h"
#include "moves/nest/seed.h"
#include "moves/nest/sizes.h"

#include "base/str.h"

/* What explicit vectors want of the compiler: selections without traps, roots without errno; and
 * what loops without them want to become vectors. */
static const char flags[] = "fast=no-errno?,no-trapping?";
static const char loop_flags[] = "fast=no-errno?,no-trapping? restrict=1?";

/* What a change of sizes gains where it gains. */
#define SIZE_PRIOR 0.03

struct rows {
    struct arena *arena;
    struct move *out;
    size_t count, capacity;
};

static void add(struct rows *rows, const struct move *move)
{
    if (rows->count < rows->capacity)
        rows->out[rows->count++] = *move;
}

static void add_seeds(struct rows *rows, const struct nest *nest, const struct nest_target *target)
{
    struct nest_seed seeds[NEST_MAX_SEEDS];
    const size_t found = nest_seeds(nest, target, rows->arena, seeds);
    for (size_t i = 0; i < found; i++) {
        const bool has_vectors = !str_starts_with(seeds[i].name, "turn-");
        add(rows, &(struct move){
                      .name = seeds[i].name,
                      .group = "nest",
                      .intent = seeds[i].intent,
                      .breaks = has_vectors ? "sums in another order; exp and tanh to 3 ulp" : "",
                      .changes = arena_printf(rows->arena, "whole-nest=%s %s", seeds[i].steps,
                                              has_vectors ? flags : loop_flags),
                      .numerics = has_vectors ? NUMERICS_REASSOCIATE : NUMERICS_EXACT,
                      .prior_log_ratio = seeds[i].prior_log_ratio});
    }
}

static void add_patterns(struct rows *rows, const struct nest *nest,
                         const struct nest_target *target)
{
    struct nest_pattern patterns[NEST_MAX_PATTERNS];
    const size_t found = nest_patterns(nest, target, rows->arena, patterns);
    for (size_t i = 0; i < found; i++)
        add(rows,
            &(struct move){
                .name = patterns[i].name,
                .group = "nest",
                .intent = patterns[i].intent,
                .breaks =
                    patterns[i].is_exact ? "" : "sums in another order; exp and tanh to 3 ulp",
                .changes = arena_printf(rows->arena, "whole-nest=%s %s", patterns[i].steps, flags),
                .numerics = patterns[i].is_exact ? NUMERICS_EXACT : NUMERICS_REASSOCIATE,
                .prior_log_ratio = patterns[i].prior_log_ratio});
}

/* The first suggestion of each move on structure and data: nobody knows yet what it gains. Its name
 * holds no names of loops, so that what it gained elsewhere is known here. */
static void add_steps(struct rows *rows, const struct nest *nest, const struct nest_target *target)
{
    struct nest *plain = NULL;
    const char *refusal = NULL;
    size_t count = 0;
    const struct nest_move *const *moves = nest_moves(&count);
    if (!nest_apply(nest, "", target, rows->arena, &plain, &refusal))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *step = NULL;
        if (!moves[i]->suggest || str_equal(moves[i]->group, "machine") ||
            moves[i]->suggest(plain, target, rows->arena, &step, 1) == 0)
            continue;
        add(rows, &(struct move){.name = arena_printf(rows->arena, "step-%s", moves[i]->name),
                                 .group = arena_printf(rows->arena, "nest-%s", moves[i]->name),
                                 .intent = moves[i]->intent,
                                 .breaks = moves[i]->breaks,
                                 .changes = arena_printf(rows->arena, "nest=%s", step),
                                 .numerics = moves[i]->numerics,
                                 .prior_log_ratio = 0.0});
    }
}

/* Other sizes of what is there: little each, but they add up. */
static void add_sizes(struct rows *rows)
{
    for (size_t i = 0; nest_size_change(i); i++) {
        const struct nest_size_change *change = nest_size_change(i);
        add(rows, &(struct move){.name = change->name,
                                 .group = "sizes",
                                 .intent = change->intent,
                                 .breaks = "",
                                 .changes = arena_printf(rows->arena, "sizes=%s", change->name),
                                 .numerics = NUMERICS_EXACT,
                                 .prior_log_ratio = SIZE_PRIOR});
    }
}

/* The reference's nest; false where there is none. */
static bool read_reference(const struct moves_env *env, struct arena *arena,
                           struct nest_target *target, struct nest **out)
{
    const char *why = NULL;
    *target = nest_target_of(env, env->default_compiler);
    return env->task && env->task->reference &&
           nest_read(env->task, env->task->reference, arena, out, &why);
}

size_t catalogue_nest(const struct moves_env *env, struct arena *arena, struct move *out,
                      size_t capacity)
{
    struct rows rows = {.arena = arena, .out = out, .capacity = capacity};
    struct nest_target target;
    struct nest *nest = NULL;
    if (!read_reference(env, arena, &target, &nest))
        return 0;
    add_seeds(&rows, nest, &target);
    add_patterns(&rows, nest, &target);
    return rows.count;
}

size_t catalogue_nest_steps(const struct moves_env *env, struct arena *arena, struct move *out,
                            size_t capacity)
{
    struct rows rows = {.arena = arena, .out = out, .capacity = capacity};
    struct nest_target target;
    struct nest *nest = NULL;
    if (!read_reference(env, arena, &target, &nest))
        return 0;
    add_steps(&rows, nest, &target);
    add_sizes(&rows);
    return rows.count;
}

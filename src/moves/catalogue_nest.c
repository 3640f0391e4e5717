/* The catalogue's moves on the loop nest of the task at hand: sequences for what it looks like. */
#include "moves/internal.h"
#include "moves/nest/pattern.h"

/* What explicit vectors want of the compiler: selections without traps, roots without errno. */
static const char flags[] = "fast=no-errno?,no-trapping?";

size_t catalogue_nest(const struct moves_env *env, struct arena *arena, struct move *out,
                      size_t capacity)
{
    struct nest_pattern patterns[NEST_MAX_PATTERNS];
    const struct moves_compiler *compiler = moves_find_compiler(env, env->default_compiler);
    const struct nest_target target = {
        .vector_bytes = env->vector_bytes,
        .cache_bytes = {env->cache_bytes[0], env->cache_bytes[1], env->cache_bytes[2]},
        .family = compiler ? compiler->family : NULL};
    struct nest *nest = NULL;
    const char *why = NULL;
    size_t count = 0;
    if (!env->task || !env->task->reference ||
        !nest_read(env->task, env->task->reference, arena, &nest, &why))
        return 0;
    const size_t found = nest_patterns(nest, &target, arena, patterns);
    for (; count < found && count < capacity; count++) {
        out[count] = (struct move){
            .name = patterns[count].name,
            .group = "nest",
            .intent = patterns[count].intent,
            .breaks = "sums in another order; exp and tanh to 3 ulp",
            .changes = arena_printf(arena, "whole-nest=%s %s", patterns[count].steps, flags),
            .numerics = NUMERICS_REASSOCIATE,
            .prior_log_ratio = patterns[count].prior_log_ratio,
        };
    }
    return count;
}

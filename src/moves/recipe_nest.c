/* The steps on the loop nest that a recipe begins with. */
#include "moves/internal.h"
#include "moves/nest_move.h"

#include "base/buf.h"
#include "base/str.h"

bool recipe_set_nest(const struct moves_env *env, struct recipe *recipe, const char *steps,
                     struct arena *arena, const char **refusal)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct moves_compiler *compiler = moves_find_compiler(env, recipe->compiler);
    const struct nest_target target = {
        .vector_bytes = env->vector_bytes,
        .cache_bytes = {env->cache_bytes[0], env->cache_bytes[1], env->cache_bytes[2]},
        .family = compiler ? compiler->family : NULL};
    struct nest *nest = NULL;
    struct nest *changed = NULL;
    if (recipe->nest && recipe->nest_text && str_equal(recipe->nest, steps) &&
        str_equal(recipe->nest_family, compiler ? compiler->family : ""))
        return true;
    if (!nest_read(env->task, env->task->reference, arena, &nest, refusal) ||
        !nest_apply(nest, steps, &target, arena, &changed, refusal))
        return false;
    nest_print(changed, &text);
    recipe->nest = arena_strdup(arena, steps);
    recipe->nest_text = arena_strdup(arena, buf_text(&text));
    recipe->nest_family = compiler ? compiler->family : "";
    return true;
}

bool recipe_add_nest(const struct moves_env *env, struct recipe *recipe, const char *steps,
                     struct arena *arena, const char **refusal)
{
    const char *all = recipe->nest ? arena_printf(arena, "%s;%s", recipe->nest, steps) : steps;
    return recipe_set_nest(env, recipe, all, arena, refusal);
}

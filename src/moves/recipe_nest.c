/* The steps on the loop nest that a recipe begins with. */
#include "moves/internal.h"
#include "moves/nest/sizes.h"
#include "moves/nest_move.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

enum { CACHE_MOST = 2000 };

/* Steps for a family of compilers, with the text that they give or why they are refused. */
struct made {
    const char *steps, *family;
    const char *text, *refusal;
    struct made *next;
};

struct moves_cache {
    struct arena *arena;
    struct made *newest;
    size_t count;
    const struct move *catalogue; /* NULL: not asked for yet */
    size_t catalogue_count;
};

struct moves_cache *moves_cache_new(struct arena *arena)
{
    struct moves_cache *cache = arena_alloc(arena, sizeof *cache);
    cache->arena = arena;
    return cache;
}

bool moves_catalogue(const struct moves_env *env, struct arena *arena, const struct move **out,
                     size_t *out_count)
{
    struct moves_cache *cache = env->cache;
    if (!cache)
        return catalogue_make(env, arena, out, out_count);
    if (!cache->catalogue &&
        !catalogue_make(env, cache->arena, &cache->catalogue, &cache->catalogue_count))
        return false;
    *out = cache->catalogue;
    *out_count = cache->catalogue_count;
    return true;
}

static const struct made *recall(const struct moves_cache *cache, const char *steps,
                                 const char *family)
{
    for (const struct made *m = cache ? cache->newest : NULL; m; m = m->next) {
        if (str_equal(m->steps, steps) && str_equal(m->family, family))
            return m;
    }
    return NULL;
}

static void keep(struct moves_cache *cache, const struct made *made)
{
    if (!cache || cache->count == CACHE_MOST)
        return;
    struct made *copy = arena_alloc(cache->arena, sizeof *copy);
    copy->steps = arena_strdup(cache->arena, made->steps);
    copy->family = arena_strdup(cache->arena, made->family);
    copy->text = made->text ? arena_strdup(cache->arena, made->text) : NULL;
    copy->refusal = made->refusal ? arena_strdup(cache->arena, made->refusal) : NULL;
    copy->next = cache->newest;
    cache->newest = copy;
    cache->count++;
}

struct nest_target nest_target_of(const struct moves_env *env, const char *compiler)
{
    const struct moves_compiler *known = compiler ? moves_find_compiler(env, compiler) : NULL;
    return (struct nest_target){
        .vector_bytes = env->vector_bytes,
        .cache_bytes = {env->cache_bytes[0], env->cache_bytes[1], env->cache_bytes[2]},
        .isa = env->isa,
        .family = known ? known->family : NULL};
}

/* Applies the steps to the reference; what it takes meanwhile goes again. */
static void make(const struct moves_env *env, struct made *made, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    CLEANUP(arena_free) struct arena work = {0};
    struct nest_target target = nest_target_of(env, NULL);
    target.family = made->family;
    struct nest *nest = NULL;
    struct nest *changed = NULL;
    const char *refusal = NULL;
    if (nest_read(env->task, env->task->reference, &work, &nest, &refusal) &&
        nest_apply(nest, made->steps, &target, &work, &changed, &refusal)) {
        nest_print(changed, &text);
        made->text = arena_strdup(arena, buf_text(&text));
    } else {
        made->refusal = arena_strdup(arena, refusal);
    }
}

bool recipe_set_nest(const struct moves_env *env, struct recipe *recipe, const char *steps,
                     struct arena *arena, const char **refusal)
{
    const struct moves_compiler *compiler = moves_find_compiler(env, recipe->compiler);
    struct made made = {.steps = steps, .family = compiler ? compiler->family : ""};
    const struct made *known = recall(env->cache, steps, made.family);
    if (recipe->nest && recipe->nest_text && str_equal(recipe->nest, steps) &&
        str_equal(recipe->nest_family, made.family))
        return true;
    if (known) {
        made = *known;
    } else {
        make(env, &made, arena);
        keep(env->cache, &made);
    }
    if (made.refusal) {
        *refusal = made.refusal;
        return false;
    }
    recipe->nest = arena_strdup(arena, steps);
    recipe->nest_text = made.text;
    recipe->nest_family = made.family;
    return true;
}

/* Do the steps end with these? */
static bool ends_with(const char *all, const char *steps)
{
    return str_ends_with(all, steps) &&
           (strlen(all) == strlen(steps) || all[strlen(all) - strlen(steps) - 1] == ';');
}

bool recipe_add_nest(const struct moves_env *env, struct recipe *recipe, const char *steps,
                     struct arena *arena, const char **refusal)
{
    if (recipe->nest && ends_with(recipe->nest, steps)) {
        *refusal = "nothing changes: these are its last steps already";
        return false;
    }
    const char *all = recipe->nest ? arena_printf(arena, "%s;%s", recipe->nest, steps) : steps;
    return recipe_set_nest(env, recipe, all, arena, refusal);
}

bool recipe_resize_nest(const struct moves_env *env, struct recipe *recipe, const char *change,
                        struct arena *arena, const char **refusal)
{
    const char *steps = NULL;
    /* As many as x86 and ARM have of each width. */
    const struct nest_vectors vectors = {.lanes = env->vector_bytes /
                                                  (int64_t)dtype_bytes(env->task->dtype),
                                         .sums = env->vector_bytes / 4,
                                         .registers = env->vector_bytes == 32 ? 16 : 32};
    if (!recipe->nest) {
        *refusal = "there are no steps on the loop nest yet";
        return false;
    }
    return nest_resize(recipe->nest, change, &vectors, arena, &steps, refusal) &&
           recipe_set_nest(env, recipe, steps, arena, refusal);
}

bool recipe_check_sizes(const char *change)
{
    for (size_t i = 0; nest_size_change(i); i++) {
        if (str_equal(nest_size_change(i)->name, change))
            return true;
    }
    return false;
}

#include "config/config.h"

#include "base/str.h"
#include "config/internal.h"
#include "os/file.h"
#include "os/os.h"

#include <assert.h>

#define MOST_TOKENS INT64_C(1000000000000)

static const char *const role_names[] = {
    [CONFIG_SMALL_STEP] = "small_step",
    [CONFIG_LARGE_STEP] = "large_step",
    [CONFIG_SUMMARISER] = "summariser",
    [CONFIG_RERANKER] = "reranker",
};
static_assert(sizeof role_names / sizeof *role_names == CONFIG_ROLE_COUNT, "name each role");

const char *config_role_name(enum config_role role)
{
    return role_names[role];
}

/* The file to read; NULL where there is none. A file in the working folder may have been put there
 * by somebody else: it is read only where it is ours. */
static bool find_file(const char *given, struct arena *arena, const char **out, struct err *err)
{
    static const char here[] = "kope.yaml";
    const char *named = given ? given : os_env("KOPE_CONFIG");
    const char *xdg = os_env("XDG_CONFIG_HOME");
    const char *home = os_env("HOME");
    if (named) {
        *out = named;
        return true;
    }
    if (os_path_exists(here)) {
        if (!os_file_is_ours(here)) {
            (void)err_set(err, ERR_BAD_INPUT,
                          "'%s' in this folder belongs to somebody else, or everybody may write it",
                          here);
            return err_hint(err, "chmod o-w it, or name the file to use in $KOPE_CONFIG");
        }
        *out = here;
        return true;
    }
    const char *dir = xdg ? xdg : home ? os_path_join(arena, home, ".config") : NULL;
    const char *path = dir ? os_path_join(arena, dir, "kope/kope.yaml") : NULL;
    *out = path && os_path_exists(path) ? path : NULL;
    return true;
}

/* The model that a name in the file means; an error at the name where there is none. */
static bool find_named(const struct config *config, const char *name, const struct yaml *at,
                       const struct config_model **out, struct err *err)
{
    struct err unknown = {0};
    if (config_model(config, name, out, &unknown))
        return true;
    (void)yaml_error(at, err, "%s", unknown.message);
    return err_hint(err, "%s", unknown.hint);
}

static bool read_roles(const struct yaml *root, struct config *config, struct err *err)
{
    const char *keys[CONFIG_ROLE_COUNT + 1] = {NULL};
    const struct yaml *roles = yaml_get(root, "roles");
    if (!roles)
        return true;
    for (size_t i = 0; i < CONFIG_ROLE_COUNT; i++)
        keys[i] = role_names[i];
    if (!yaml_check_keys(roles, keys, err))
        return false;
    for (size_t i = 0; i < CONFIG_ROLE_COUNT; i++) {
        const char *name = NULL;
        if (!yaml_read_string(roles, role_names[i], false, &name, err) ||
            (name &&
             !find_named(config, name, yaml_get(roles, role_names[i]), &config->roles[i], err)))
            return false;
    }
    return true;
}

static bool read_budget(const struct yaml *root, struct config *config, struct err *err)
{
    static const char *const keys[] = {"tokens", "usd", NULL};
    const struct yaml *budget = yaml_get(root, "budget");
    if (!budget)
        return true;
    if (!yaml_check_keys(budget, keys, err) ||
        !yaml_read_int(budget, "tokens", false, 1, MOST_TOKENS, &config->token_budget, err) ||
        !yaml_read_real(budget, "usd", false, &config->cost_budget_usd, err))
        return false;
    return config->cost_budget_usd >= 0.0
               ? true
               : yaml_error(yaml_get(budget, "usd"), err, "'usd' must be an amount of money");
}

/* The default proposer: where it names a model, the model has to be there. */
static bool read_proposer(const struct yaml *root, struct config *config, struct err *err)
{
    static const char llm[] = "llm:";
    const struct config_model *model = NULL;
    if (!yaml_read_string(root, "proposer", false, &config->proposer, err))
        return false;
    return !config->proposer || !str_starts_with(config->proposer, llm) ||
           find_named(config, config->proposer + sizeof llm - 1, yaml_get(root, "proposer"), &model,
                      err);
}

static bool read_root(const struct yaml *root, const char *path, struct arena *arena,
                      struct config *config, struct err *err)
{
    static const char *const keys[] = {"memory", "proposer", "policy", "context_tokens",
                                       "budget", "roles",    "models", NULL};
    const char *dir = os_path_dir(arena, path);
    const struct yaml *models = yaml_get(root, "models");
    if (!yaml_check_keys(root, keys, err) ||
        (models && !yaml_is_null(models) &&
         !config_read_models(models, dir, arena, &config->models, &config->model_count, err)) ||
        !yaml_read_string(root, "memory", false, &config->memory_dir, err) ||
        !yaml_read_string(root, "policy", false, &config->policy, err) ||
        !yaml_read_int(root, "context_tokens", false, 1, MOST_TOKENS, &config->context_tokens,
                       err) ||
        !read_proposer(root, config, err) || !read_budget(root, config, err) ||
        !read_roles(root, config, err))
        return false;
    if (config->memory_dir)
        config->memory_dir = config_path(config->memory_dir, dir, arena);
    return true;
}

bool config_load(const char *path, struct arena *arena, const struct config **out, struct err *err)
{
    struct config *config = arena_alloc(arena, sizeof *config);
    const struct yaml *root = NULL;
    char *text = NULL;
    size_t length = 0;
    if (!find_file(path, arena, &config->path, err))
        return false;
    if (config->path && (!os_read_file(config->path, YAML_MAX_BYTES, arena, &text, &length, err) ||
                         !yaml_parse(text, length, config->path, arena, &root, err) ||
                         !read_root(root, config->path, arena, config, err)))
        return false;
    *out = config;
    return true;
}

bool config_model(const struct config *config, const char *name, const struct config_model **out,
                  struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char **names = arena_array(&arena, config->model_count + 1, sizeof *names);
    for (size_t i = 0; i < config->model_count; i++) {
        names[i] = config->models[i].name;
        if (str_equal(names[i], name)) {
            *out = &config->models[i];
            return true;
        }
    }
    (void)err_set(err, ERR_NOT_FOUND, "there is no model '%s' in %s", name,
                  config->path ? config->path : "kope.yaml, which does not exist");
    const char *nearest = str_nearest(name, names, config->model_count);
    if (nearest)
        return err_hint(err, "did you mean '%s'?", nearest);
    return err_hint(err, "add it under 'models': see kope.yaml(5)");
}

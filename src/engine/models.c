/* Which model does what in a run; and the record of it, so that a resume asks the same ones. */
#include "engine/internal.h"

#include "base/str.h"
#include "json/json.h"

static const struct config_model *named(const struct config *config, const char *name)
{
    for (size_t i = 0; config && i < config->model_count; i++) {
        if (str_equal(config->models[i].name, name))
            return &config->models[i];
    }
    return NULL;
}

static const struct llm_opts *role_of(const struct config *config, enum config_role role)
{
    return config && config->roles[role] ? &config->roles[role]->llm : NULL;
}

bool models_choose(struct run *run, const struct proposer_spec *spec, struct err *err)
{
    const struct config *config = run->opts.config;
    const char *name = spec->argument ? spec->argument : run->opts.model;
    const struct config_model *known = name ? named(config, name) : NULL;
    struct propose_models *models = &run->models;
    models->summariser = role_of(config, CONFIG_SUMMARISER);
    models->reranker = role_of(config, CONFIG_RERANKER);
    const struct llm_opts *small = role_of(config, CONFIG_SMALL_STEP);
    const struct llm_opts *large = role_of(config, CONFIG_LARGE_STEP);
    if (name) {
        models->small = known ? known->llm : (struct llm_opts){.model = name};
        if (run->opts.base_url)
            models->small.base_url = run->opts.base_url;
        models->large = models->small;
        return true;
    }
    if (!small && !large)
        return err_set(err, ERR_USAGE, "the llm proposer needs a model");
    models->small = small ? *small : *large;
    models->large = large ? *large : *small;
    return true;
}

static void write_model(struct json_writer *w, const char *role, const struct llm_opts *m)
{
    if (!m)
        return;
    json_key(w, role);
    json_begin_object(w);
    json_put_string(w, "model", m->model);
    json_put_string(w, "dialect", m->dialect);
    json_put_string(w, "base_url", m->base_url);
    json_put_string(w, "key_variable", m->key_variable);
    json_put_string(w, "max_tokens_field", m->max_tokens_field);
    json_put_string(w, "effort", m->effort);
    json_put_int(w, "thinking_tokens", m->thinking_tokens);
    if (m->has_temperature)
        json_put_real(w, "temperature", m->temperature);
    json_put_int(w, "max_output_tokens", m->max_output_tokens);
    json_put_int(w, "context_tokens", m->context_tokens);
    json_put_int(w, "deadline_ns", m->deadline_ns);
    json_put_int(w, "retries", m->retries);
    if (m->prices.is_known) {
        json_key(w, "prices");
        json_begin_array(w);
        json_write_real(w, m->prices.input);
        json_write_real(w, m->prices.cached_input);
        json_write_real(w, m->prices.cache_write);
        json_write_real(w, m->prices.output);
        json_end_array(w);
    }
    json_end_object(w);
}

char *models_settings(const struct run *run, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    const struct propose_models *m = &run->models;
    json_begin_object(&w);
    json_put_string(&w, "target", run->opts.target);
    json_put_string(&w, "baseline", run_baseline_text(run->target, arena));
    json_put_int(&w, "context_tokens", run->opts.context_tokens);
    json_put_int(&w, "proposals", run->opts.proposals);
    json_put_real(&w, "cost_budget_usd", run->opts.cost_budget_usd);
    json_put_bool(&w, "fresh", run->opts.fresh);
    json_put_bool(&w, "passive", run->opts.passive);
    json_put_bool(&w, "use_findings", run->opts.use_findings);
    json_put_string(&w, "model", run->opts.model);
    json_put_int(&w, "agent_time_ns", run->opts.agent_time_ns);
    json_put_string(&w, "workspaces", run->opts.workspaces);
    if (run->has_prior)
        prior_write(&run->prior, &w);
    if (m->large.model) {
        json_key(&w, "models");
        json_begin_object(&w);
        write_model(&w, "small_step", &m->small);
        write_model(&w, "large_step", &m->large);
        write_model(&w, "summariser", m->summariser);
        write_model(&w, "reranker", m->reranker);
        json_end_object(&w);
    }
    json_end_object(&w);
    return arena_strdup(arena, buf_text(&text));
}

static void read_model(const struct json *value, struct llm_opts *out)
{
    const struct json *prices = json_get(value, "prices");
    const struct json *temperature = json_get(value, "temperature");
    *out = (struct llm_opts){
        .model = json_string(json_get(value, "model"), NULL),
        .dialect = json_string(json_get(value, "dialect"), NULL),
        .base_url = json_string(json_get(value, "base_url"), NULL),
        .key_variable = json_string(json_get(value, "key_variable"), NULL),
        .max_tokens_field = json_string(json_get(value, "max_tokens_field"), NULL),
        .effort = json_string(json_get(value, "effort"), NULL),
        .thinking_tokens = json_int(json_get(value, "thinking_tokens"), 0),
        .has_temperature = temperature != NULL,
        .temperature = json_real(temperature, 0.0),
        .max_output_tokens = json_int(json_get(value, "max_output_tokens"), 0),
        .context_tokens = json_int(json_get(value, "context_tokens"), 0),
        .deadline_ns = json_int(json_get(value, "deadline_ns"), 0),
        .retries = (int)json_int(json_get(value, "retries"), 0),
        .prices = {.is_known = prices != NULL,
                   .input = json_real(json_at(prices, 0), 0.0),
                   .cached_input = json_real(json_at(prices, 1), 0.0),
                   .cache_write = json_real(json_at(prices, 2), 0.0),
                   .output = json_real(json_at(prices, 3), 0.0)},
    };
}

static const struct llm_opts *read_role(const struct json *models, const char *role,
                                        struct arena *arena)
{
    const struct json *value = json_get(models, role);
    if (!value)
        return NULL;
    struct llm_opts *opts = arena_alloc(arena, sizeof *opts);
    read_model(value, opts);
    return opts;
}

bool models_parse_settings(const char *settings, struct arena *arena, const struct json **out,
                           struct err *err)
{
    *out = NULL;
    return settings[0] == '\0' ||
           json_parse(settings, strlen(settings), "settings of the run", arena, out, err);
}

bool models_read_baseline(const struct graph_run *run, struct arena *arena, const char **out,
                          struct err *err)
{
    const struct json *json = NULL;
    if (!models_parse_settings(run->settings, arena, &json, err))
        return false;
    *out = json_string(json_get(json, "baseline"), NULL);
    return true;
}

bool models_read_settings(struct run *run, const char *settings, struct err *err)
{
    const struct json *json = NULL;
    if (!models_parse_settings(settings, run->arena, &json, err))
        return false;
    if (!json)
        return true;
    run->opts.target = json_string(json_get(json, "target"), NULL);
    run->opts.context_tokens = json_int(json_get(json, "context_tokens"), 0);
    run->opts.proposals = json_int(json_get(json, "proposals"), 0);
    run->opts.cost_budget_usd = json_real(json_get(json, "cost_budget_usd"), 0.0);
    run->opts.fresh = json_bool(json_get(json, "fresh"), false);
    run->opts.passive = json_bool(json_get(json, "passive"), false);
    run->opts.use_findings = json_bool(json_get(json, "use_findings"), false);
    run->opts.model = json_string(json_get(json, "model"), NULL);
    run->opts.agent_time_ns = json_int(json_get(json, "agent_time_ns"), 0);
    run->opts.workspaces = json_string(json_get(json, "workspaces"), NULL);
    run->prior = prior_read(json);
    run->has_prior = true; /* of a version that had none: nothing was known */
    const struct json *models = json_get(json, "models");
    if (!json_get(models, "large_step") || !json_get(models, "small_step"))
        return true;
    read_model(json_get(models, "small_step"), &run->models.small);
    read_model(json_get(models, "large_step"), &run->models.large);
    run->models.summariser = read_role(models, "summariser", run->arena);
    run->models.reranker = read_role(models, "reranker", run->arena);
    return true;
}

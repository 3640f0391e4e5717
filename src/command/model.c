/* Models of kope.yaml: what there is, whether one answers, what a text costs. */
#include "command/internal.h"

#include "base/str.h"
#include "base/tokens.h"
#include "config/config.h"
#include "llm/llm.h"
#include "os/file.h"

#include <string.h>

enum { MOST_DIALECTS = 32, PING_TOKENS = 256, FILE_LIMIT_BYTES = 16 * 1024 * 1024 };

#define PARAM_MODEL_NAME                                                                           \
    {                                                                                              \
        "name", "NAME", "a model of kope.yaml", NULL, PARAM_TEXT, true, true, NULL                 \
    }

static const struct param no_params[] = {{0}};
static const struct param name_params[] = {PARAM_MODEL_NAME, {0}};
static const struct param count_params[] = {
    PARAM_MODEL_NAME,
    {"file", "FILE", "a text, as one prompt", NULL, PARAM_PATH, true, true, NULL},
    {0}};

/* What the model is used for: "small_step, large_step", "" where for nothing. */
static const char *roles_of(const struct config *config, const struct config_model *model,
                            struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < CONFIG_ROLE_COUNT; i++) {
        if (config->roles[i] == model)
            text = arena_printf(arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ",
                                config_role_name((enum config_role)i));
    }
    return text;
}

static const char *key_state(const struct llm_info *info, struct arena *arena)
{
    if (info->key_variable[0] == '\0')
        return "no key";
    return arena_printf(arena, "$%s is %s", info->key_variable, info->has_key ? "set" : "not set");
}

static void write_model(const struct config *config, const struct config_model *model,
                        struct json_writer *w, struct arena *arena, struct buf *text)
{
    struct err err = {0};
    CLEANUP(llm_close) struct llm *llm = NULL;
    const char *roles = roles_of(config, model, arena);
    json_begin_object(w);
    json_put_string(w, "name", model->name);
    json_put_string(w, "model", model->llm.model);
    if (!llm_open(&model->llm, &llm, &err)) {
        (void)buf_printf(text, "%-16s %s\n  cannot be used: %s\n", model->name, model->llm.model,
                         err.message);
        json_put_string(w, "problem", err.message);
    } else {
        const struct llm_info info = llm_info(llm);
        (void)buf_printf(text, "%-16s %s\n  %s (%s) at %s, %s%s%s\n", model->name, info.model,
                         info.dialect, info.api, info.base_url, key_state(&info, arena),
                         roles[0] == '\0' ? "" : "; ", roles);
        json_put_string(w, "dialect", info.dialect);
        json_put_string(w, "api", info.api);
        json_put_string(w, "base_url", info.base_url);
        json_put_string(w, "key_variable", info.key_variable);
        json_put_bool(w, "has_key", info.has_key);
        json_put_int(w, "max_output_tokens", info.max_output_tokens);
        json_put_int(w, "context_tokens", info.context_tokens);
        json_put_bool(w, "has_prices", model->llm.prices.is_known);
    }
    json_put_string(w, "roles", roles);
    json_end_object(w);
}

static bool run_list(const struct command_call *call, struct command_result *out, struct err *err)
{
    const struct config *config = NULL;
    struct json_writer w = {.out = &out->json};
    if (!config_load(NULL, call->arena, &config, err))
        return false;
    json_begin_array(&w);
    for (size_t i = 0; i < config->model_count; i++)
        write_model(config, &config->models[i], &w, call->arena, &out->text);
    json_end_array(&w);
    if (config->model_count == 0)
        (void)buf_printf(&out->text, "no models: %s names none; see kope.yaml(5)\n",
                         config->path ? config->path : "there is no kope.yaml, which");
    return true;
}

const struct command command_model_list = {
    .name = "model list",
    .summary = "the models of kope.yaml, and whether their keys are set",
    .description = "Each named model with its dialect, address and roles. Of a key only its "
                   "variable is told, and whether it is set.",
    .examples = "  kope model list",
    .params = no_params,
    .run = run_list,
};

static bool run_dialects(const struct command_call *call, struct command_result *out,
                         struct err *err)
{
    struct llm_dialect_info rows[MOST_DIALECTS];
    const size_t count = llm_dialects(rows, MOST_DIALECTS);
    struct json_writer w = {.out = &out->json};
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(&out->text, "%-16s %-16s %-20s %s\n", rows[i].name, rows[i].api,
                         rows[i].key_variable, rows[i].summary);
        json_begin_object(&w);
        json_put_string(&w, "name", rows[i].name);
        json_put_string(&w, "api", rows[i].api);
        json_put_string(&w, "summary", rows[i].summary);
        json_put_string(&w, "base_url", rows[i].base_url);
        json_put_string(&w, "key_variable", rows[i].key_variable);
        json_end_object(&w);
    }
    json_end_array(&w);
    (void)call;
    (void)err;
    return true;
}

const struct command command_model_dialects = {
    .name = "model dialects",
    .summary = "the servers that KOPE knows how to talk to",
    .description = "Name, API and default key variable of each dialect. 'other' suits most servers "
                   "of chat completions.",
    .examples = "  kope model dialects",
    .params = no_params,
    .run = run_dialects,
};

static bool open_named(const struct command_call *call, struct llm **out, struct err *err)
{
    const struct config *config = NULL;
    const struct config_model *model = NULL;
    const char *name = command_text(call, "name");
    if (!config_load(NULL, call->arena, &config, err) || !config_model(config, name, &model, err))
        return false;
    return llm_open(&model->llm, out, err) ? true : err_within(err, "model '%s'", name);
}

static void write_ping(const struct llm *llm, const struct llm_reply *reply, struct arena *arena,
                       struct command_result *out)
{
    struct json_writer w = {.out = &out->json};
    const struct llm_info info = llm_info(llm);
    (void)buf_printf(&out->text, "%s at %s answered in %s, attempt %d: %.200s\n", info.model,
                     info.base_url, command_time_text(reply->wall_ns, arena), reply->attempts,
                     reply->text);
    (void)buf_printf(&out->text, "  %lld tokens in (%lld cached), %lld out (%lld of reasoning)%s\n",
                     (long long)reply->usage.input_tokens, (long long)reply->usage.cached_tokens,
                     (long long)reply->usage.output_tokens,
                     (long long)reply->usage.reasoning_tokens,
                     reply->usage.is_estimate ? ", by our bound: the server does not tell" : "");
    if (reply->is_cost_known)
        (void)buf_printf(&out->text, "  %.6f USD\n", reply->cost_usd);
    if (reply->problem)
        (void)buf_printf(&out->text, "  but %s\n", reply->problem);
    json_begin_object(&w);
    json_put_string(&w, "model", info.model);
    json_put_string(&w, "base_url", info.base_url);
    json_put_string(&w, "text", reply->text);
    json_put_string(&w, "finish_reason", reply->finish_reason);
    json_put_string(&w, "problem", reply->problem);
    json_put_int(&w, "wall_ns", reply->wall_ns);
    json_put_int(&w, "attempts", reply->attempts);
    json_put_int(&w, "input_tokens", reply->usage.input_tokens);
    json_put_int(&w, "cached_tokens", reply->usage.cached_tokens);
    json_put_int(&w, "output_tokens", reply->usage.output_tokens);
    json_put_int(&w, "reasoning_tokens", reply->usage.reasoning_tokens);
    json_put_bool(&w, "is_estimate", reply->usage.is_estimate);
    if (reply->is_cost_known)
        json_put_real(&w, "cost_usd", reply->cost_usd);
    json_end_object(&w);
}

static bool run_ping(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(llm_close) struct llm *llm = NULL;
    const struct llm_message message = {.role = "user", .text = "Answer with one word: ready"};
    const struct llm_request request = {
        .messages = &message, .count = 1, .max_output_tokens = PING_TOKENS};
    struct llm_reply reply;
    if (!open_named(call, &llm, err) || !llm_chat(llm, &request, call->arena, &reply, err))
        return false;
    write_ping(llm, &reply, call->arena, out);
    return true;
}

const struct command command_model_ping = {
    .name = "model ping",
    .summary = "ask a model for one word: does it answer, how fast, at what cost",
    .description = "One exchange of at most 256 tokens of reply. Costs what the server takes for "
                   "it.",
    .examples = "  kope model ping local",
    .params = name_params,
    .run = run_ping,
};

static bool run_count(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(llm_close) struct llm *llm = NULL;
    char *text = NULL;
    size_t length = 0;
    int64_t exact = -1;
    struct err why = {0};
    if (!open_named(call, &llm, err) || !os_read_file(command_text(call, "file"), FILE_LIMIT_BYTES,
                                                      call->arena, &text, &length, err))
        return false;
    if (strlen(text) != length)
        return err_set(err, ERR_BAD_INPUT, "'%s' is no text: it holds a NUL byte",
                       command_text(call, "file"));
    const struct llm_message message = {.role = "user", .text = text};
    const struct llm_request request = {.messages = &message, .count = 1};
    const struct llm_bound bound = llm_bound(llm, &request);
    struct json_writer w = {.out = &out->json};
    const int64_t estimate = tokens_estimate(text, length);
    if (!llm_count_input_tokens(llm, &request, call->arena, &exact, &why) &&
        why.kind != ERR_UNSUPPORTED) {
        *err = why;
        return false;
    }
    (void)buf_printf(&out->text, "%zu bytes: about %lld tokens, at most %lld", length,
                     (long long)estimate, (long long)bound.input_tokens);
    if (exact >= 0)
        (void)buf_printf(&out->text, ", exactly %lld\n", (long long)exact);
    else
        (void)buf_printf(&out->text, "; not counted exactly: %s\n", why.message);
    if (bound.is_cost_known)
        (void)buf_printf(&out->text, "at most %.6f USD with a reply of %lld tokens\n", bound.usd,
                         (long long)bound.output_tokens);
    json_begin_object(&w);
    json_put_int(&w, "bytes", (int64_t)length);
    json_put_int(&w, "estimate", estimate);
    json_put_int(&w, "bound", bound.input_tokens);
    if (exact >= 0)
        json_put_int(&w, "exact", exact);
    if (bound.is_cost_known)
        json_put_real(&w, "bound_usd", bound.usd);
    json_end_object(&w);
    return true;
}

const struct command command_model_count = {
    .name = "model count",
    .summary = "how many tokens a text has for a model",
    .description = "The estimate, the bound that budgets rely on, and the exact count where the "
                   "server offers one.",
    .examples = "  kope model count local prompt.txt",
    .params = count_params,
    .run = run_count,
};

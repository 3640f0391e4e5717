#include "llm/llm.h"

#include "base/hash.h"
#include "base/str.h"
#include "llm/driver.h"
#include "llm/endpoint.h"
#include "llm/wire.h"
#include "os/os.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_MAX_OUTPUT_TOKENS = 8192,
    DEFAULT_RETRIES = 4,
    LEAST_REPLY_TOKENS = 256, /* less is no room for an answer */
    LEAST_THINKING_TOKENS = 1024
};
#define DEFAULT_DEADLINE_NS (INT64_C(120) * 1000000000)
#define DEFAULT_REPLY_LIMIT_BYTES ((size_t)4 * 1024 * 1024)

static bool fail_unknown_dialect(const char *name, struct err *err)
{
    CLEANUP(buf_free) struct buf names = {0};
    for (size_t i = 0; i < dialect_count; i++)
        (void)buf_printf(&names, "%s%s", i == 0 ? "" : ", ", dialect_table[i].name);
    (void)err_set(err, ERR_UNSUPPORTED, "there is no model dialect '%s'", name);
    return err_hint(err, "dialects are: %s; 'other' suits most servers", buf_text(&names));
}

static const char *copy_or_null(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

/* What is not given comes from the dialect or from the defaults. */
static void fill_opts(const struct llm_opts *given, const struct dialect *dialect,
                      struct arena *arena, struct llm_opts *out)
{
    *out = *given;
    out->dialect = dialect->name;
    out->base_url = copy_or_null(arena, given->base_url);
    out->key_variable = copy_or_null(arena, given->key_variable);
    out->model = copy_or_null(arena, given->model);
    out->max_tokens_field = copy_or_null(arena, given->max_tokens_field);
    out->effort = copy_or_null(arena, given->effort);
    if (out->context_tokens <= 0)
        out->context_tokens = dialect->context_tokens;
    if (out->max_output_tokens <= 0) {
        out->max_output_tokens = DEFAULT_MAX_OUTPUT_TOKENS;
        if (out->context_tokens > 0 && out->context_tokens / 2 < out->max_output_tokens)
            out->max_output_tokens = out->context_tokens / 2;
    }
    if (out->deadline_ns <= 0)
        out->deadline_ns = DEFAULT_DEADLINE_NS;
    if (out->reply_limit_bytes == 0)
        out->reply_limit_bytes = DEFAULT_REPLY_LIMIT_BYTES;
    if (out->retries == 0)
        out->retries = DEFAULT_RETRIES;
    if (out->retries < 0)
        out->retries = 0;
}

/* Settings that the dialect has no word for, and numbers that it would refuse. */
static bool check_opts(const struct llm_opts *opts, const struct dialect *dialect, struct err *err)
{
    if (!opts->model || opts->model[0] == '\0') {
        (void)err_set(err, ERR_BAD_INPUT, "no model was named");
        return err_hint(err, "name one as its server lists it (GET /models)");
    }
    if (opts->effort && !dialect->effort_path)
        return err_set(err, ERR_BAD_INPUT, "dialect '%s' has no word for the effort of reasoning",
                       dialect->name);
    if (opts->thinking_tokens != 0 && !dialect->takes_thinking_tokens)
        return err_set(err, ERR_BAD_INPUT, "dialect '%s' has no word for a budget of thinking",
                       dialect->name);
    if (opts->thinking_tokens != 0 && opts->thinking_tokens < LEAST_THINKING_TOKENS)
        return err_set(err, ERR_BAD_INPUT, "a budget of thinking is %d tokens at least",
                       LEAST_THINKING_TOKENS);
    if (opts->has_temperature && !(opts->temperature >= 0.0 && opts->temperature <= 2.0))
        return err_set(err, ERR_BAD_INPUT, "the temperature is from 0 to 2");
    if (!opts->max_tokens_field || !dialect->wire)
        return true;
    if (dialect->wire == &wire_chat && (str_equal(opts->max_tokens_field, "max_tokens") ||
                                        str_equal(opts->max_tokens_field, "max_completion_tokens")))
        return true;
    (void)err_set(err, ERR_BAD_INPUT, "'%s' is no name for the cap on a reply",
                  opts->max_tokens_field);
    return err_hint(err, "it is max_completion_tokens or max_tokens, in chat completions only");
}

static void release(struct llm *llm)
{
    free(llm->state);
    free(llm->tally.last_ids);
    arena_free(&llm->arena);
    free(llm);
}

/* The row that was named; else the one that the host of the base URL means. */
static const struct dialect *choose_dialect(const struct llm_opts *opts, struct err *err)
{
    if (opts->dialect) {
        const struct dialect *named = dialect_by_name(opts->dialect);
        if (!named)
            (void)fail_unknown_dialect(opts->dialect, err);
        return named;
    }
    CLEANUP(arena_free) struct arena arena = {0};
    const char *base_url = opts->base_url ? opts->base_url : os_env("OPENAI_BASE_URL");
    struct endpoint endpoint;
    if (!base_url)
        return dialect_by_name("openai");
    return endpoint_parse(base_url, &arena, &endpoint, err) ? dialect_by_host(endpoint.host) : NULL;
}

bool llm_open(const struct llm_opts *opts, struct llm **out, struct err *err)
{
    const struct dialect *dialect = choose_dialect(opts, err);
    if (!dialect || !check_opts(opts, dialect, err))
        return false;
    struct llm *llm = calloc(1, sizeof *llm);
    if (!llm)
        BUG("llm: out of memory");
    llm->driver = dialect->driver;
    llm->dialect = dialect;
    llm->tally.last_tokens = -1;
    llm->state = calloc(1, llm->driver->state_bytes);
    if (!llm->state)
        BUG("llm: out of memory");
    fill_opts(opts, dialect, &llm->arena, &llm->opts);
    if (llm->opts.thinking_tokens >= llm->opts.max_output_tokens && llm->opts.thinking_tokens > 0) {
        (void)err_set(err, ERR_BAD_INPUT,
                      "a budget of thinking of %lld tokens leaves nothing of the %lld of a reply",
                      (long long)llm->opts.thinking_tokens, (long long)llm->opts.max_output_tokens);
        release(llm);
        return err_hint(err, "raise max_output_tokens");
    }
    if (!llm->driver->open(llm, err)) {
        release(llm);
        return false;
    }
    *out = llm;
    return true;
}

void llm_close(struct llm **llm)
{
    if (!*llm)
        return;
    if ((*llm)->driver->close)
        (*llm)->driver->close(*llm);
    release(*llm);
    *llm = NULL;
}

/* The cap on the reply that the context leaves; ERR_LIMIT where that is nothing. */
static bool fit_context(struct llm *llm, const struct llm_request *request, struct arena *arena,
                        int64_t *max_output_tokens, struct err *err)
{
    const struct llm_bound bound = llm_bound(llm, request);
    const int64_t context = llm->opts.context_tokens;
    int64_t input = bound.input_tokens;
    struct err ignored;
    *max_output_tokens = bound.output_tokens;
    if (context <= 0 || input + bound.output_tokens <= context)
        return true;
    if (context - input < LEAST_REPLY_TOKENS)
        (void)llm_count_input_tokens(llm, request, arena, &input, &ignored);
    if (context - input < LEAST_REPLY_TOKENS) {
        (void)err_set(err, ERR_LIMIT,
                      "the prompt may have %lld tokens, and model '%s' takes %lld with its reply",
                      (long long)input, llm->opts.model, (long long)context);
        return err_hint(err, "lower the context budget, or set context_tokens of the model to what "
                             "its server takes");
    }
    if (context - input < bound.output_tokens)
        *max_output_tokens = context - input;
    return true;
}

/* Messages up to the last mark, as one id. */
static const char *prefix_hash(const struct llm_request *request, struct arena *arena)
{
    size_t end = request->count;
    while (end > 0 && request->messages[end - 1].cache == LLM_CACHE_NONE)
        end--;
    if (end == 0)
        return "";
    const char **parts = arena_array(arena, 2 * end, sizeof *parts);
    for (size_t i = 0; i < end; i++) {
        parts[2 * i] = request->messages[i].role;
        parts[2 * i + 1] = request->messages[i].text;
    }
    return arena_strdup(arena, hash_strings(parts, 2 * end).text);
}

static bool check_request(const struct llm_request *request, struct err *err)
{
    if (request->count == 0)
        BUG("llm: a request without messages");
    if (request->schema_json && !request->schema_name)
        BUG("llm: a schema without a name");
    if (os_interrupted())
        return err_set(err, ERR_INTERRUPTED, "interrupted before the model was asked");
    return true;
}

bool llm_chat(struct llm *llm, const struct llm_request *request, struct arena *arena,
              struct llm_reply *out, struct err *err)
{
    const int64_t start_ns = os_now_ns();
    struct llm_reply reply = {0};
    int64_t max_output_tokens = 0;
    if (!check_request(request, err) ||
        !fit_context(llm, request, arena, &max_output_tokens, err) ||
        !llm->driver->chat(llm, request, max_output_tokens, arena, &reply, err))
        return false;
    reply.prefix_hash = prefix_hash(request, arena);
    llm_judge_reply(request, arena, &reply);
    reply.wall_ns = os_now_ns() - start_ns;
    *out = reply;
    return true;
}

bool llm_count_input_tokens(struct llm *llm, const struct llm_request *request, struct arena *arena,
                            int64_t *out, struct err *err)
{
    if (!llm->driver->count || !llm->dialect->count_path) {
        (void)err_set(err, ERR_UNSUPPORTED, "dialect '%s' has no address that counts tokens",
                      llm->dialect->name);
        return err_hint(err, "its bound stands for it");
    }
    return check_request(request, err) && llm->driver->count(llm, request, arena, out, err);
}

struct llm_info llm_info(const struct llm *llm)
{
    const struct llm_opts *opts = &llm->opts;
    return (struct llm_info){
        .dialect = llm->dialect->name,
        .api = llm->dialect->wire ? llm->dialect->wire->name : llm->driver->name,
        .model = opts->model,
        .base_url = opts->base_url,
        .key_variable = opts->key_variable ? opts->key_variable : "",
        .has_key = opts->key_variable && os_env(opts->key_variable),
        .is_loopback = llm->is_loopback,
        .max_output_tokens = opts->max_output_tokens,
        .context_tokens = opts->context_tokens,
    };
}

size_t llm_dialects(struct llm_dialect_info *out, size_t capacity)
{
    for (size_t i = 0; i < dialect_count && i < capacity; i++) {
        const struct dialect *row = &dialect_table[i];
        out[i] = (struct llm_dialect_info){
            .name = row->name,
            .api = row->wire ? row->wire->name : row->driver->name,
            .summary = row->summary,
            .base_url = row->base_url ? row->base_url : "",
            .key_variable = row->key_variable ? row->key_variable : "",
        };
    }
    return dialect_count;
}

/* The models of kope.yaml. */
#include "config/internal.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"

#include <string.h>

enum { NAME_MAX_BYTES = 64, MOST_DIALECTS = 32 };
#define MOST_TOKENS INT64_C(100000000)
static const double most_usd = 1e6;

/* Letters, digits, '.', '_' and '-', not beginning with one of the last three. */
static bool is_name(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = strlen(text);
    return length > 0 && length <= NAME_MAX_BYTES && strchr(first, text[0]) &&
           strspn(text, rest) == length;
}

/* Capitals, digits and '_': keys have lower-case letters or '-' in them, names of variables not. */
static bool is_variable(const char *text)
{
    static const char rest[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t length = strlen(text);
    return length > 0 && length <= NAME_MAX_BYTES && strspn(text, rest) == length &&
           !(text[0] >= '0' && text[0] <= '9');
}

static bool read_dialect(const struct yaml *node, struct llm_opts *out, struct err *err)
{
    struct llm_dialect_info rows[MOST_DIALECTS];
    const char *names[MOST_DIALECTS];
    const size_t count = llm_dialects(rows, MOST_DIALECTS);
    if (!yaml_read_string(node, "dialect", false, &out->dialect, err))
        return false;
    if (!out->dialect)
        return true;
    for (size_t i = 0; i < count; i++) {
        names[i] = rows[i].name;
        if (str_equal(names[i], out->dialect))
            return true;
    }
    (void)yaml_error(yaml_get(node, "dialect"), err, "there is no model dialect '%s'",
                     out->dialect);
    const char *nearest = str_nearest(out->dialect, names, count);
    return nearest ? err_hint(err, "did you mean '%s'?", nearest)
                   : err_hint(err, "'kope model dialects' lists them; 'other' suits most servers");
}

static bool read_key_variable(const struct yaml *node, struct llm_opts *out, struct err *err)
{
    if (!yaml_read_string(node, "key_variable", false, &out->key_variable, err))
        return false;
    if (!out->key_variable || is_variable(out->key_variable))
        return true;
    /* Not quoted: it may be the key itself. */
    (void)yaml_error(yaml_get(node, "key_variable"), err,
                     "'key_variable' must be the name of an environment variable");
    return err_hint(err, "capital letters, digits and '_'; the key itself goes into that variable, "
                         "never into a file");
}

static bool read_duration(const struct yaml *node, const char *key, int64_t *out_ns,
                          struct err *err)
{
    const char *text = NULL;
    if (!yaml_read_string(node, key, false, &text, err))
        return false;
    if (!text || (str_parse_duration_ns(text, out_ns) && *out_ns > 0))
        return true;
    (void)yaml_error(yaml_get(node, key), err, "'%s' must be a duration, not '%s'", key, text);
    return err_hint(err, "such as 90s or 10m");
}

static bool read_price(const struct yaml *prices, const char *key, bool required, double *out,
                       struct err *err)
{
    if (!yaml_read_real(prices, key, required, out, err))
        return false;
    return *out >= 0.0 && *out <= most_usd
               ? true
               : yaml_error(yaml_get(prices, key), err,
                            "'%s' must be US dollars for a million tokens", key);
}

/* Cached and written tokens cost as much as others where the file does not say. */
static bool read_prices(const struct yaml *node, struct llm_prices *out, struct err *err)
{
    static const char *const keys[] = {"input", "cached_input", "cache_write", "output", NULL};
    const struct yaml *prices = yaml_get(node, "prices");
    if (!prices)
        return true;
    if (!yaml_check_keys(prices, keys, err) || !read_price(prices, "input", true, &out->input, err))
        return false;
    out->cached_input = out->cache_write = out->input;
    out->is_known = true;
    return read_price(prices, "cached_input", false, &out->cached_input, err) &&
           read_price(prices, "cache_write", false, &out->cache_write, err) &&
           read_price(prices, "output", true, &out->output, err);
}

static bool read_numbers(const struct yaml *node, struct llm_opts *out, struct err *err)
{
    int64_t retries = 0;
    if (!yaml_read_int(node, "max_output_tokens", false, 1, MOST_TOKENS, &out->max_output_tokens,
                       err) ||
        !yaml_read_int(node, "context_tokens", false, 1, MOST_TOKENS, &out->context_tokens, err) ||
        !yaml_read_int(node, "thinking_tokens", false, 0, MOST_TOKENS, &out->thinking_tokens,
                       err) ||
        !yaml_read_int(node, "retries", false, 0, 100, &retries, err) ||
        !yaml_read_real(node, "temperature", false, &out->temperature, err) ||
        !read_duration(node, "deadline", &out->deadline_ns, err))
        return false;
    out->has_temperature = yaml_get(node, "temperature") != NULL;
    if (yaml_get(node, "retries"))
        out->retries = retries == 0 ? -1 : (int)retries;
    if (out->context_tokens > 0 && out->max_output_tokens >= out->context_tokens)
        return yaml_error(yaml_get(node, "max_output_tokens"), err,
                          "'max_output_tokens' leaves nothing of 'context_tokens' for a prompt");
    return true;
}

static bool read_model(const struct yaml *node, const char *dir, struct arena *arena,
                       struct config_model *out, struct err *err)
{
    static const char *const keys[] = {"dialect",
                                       "base_url",
                                       "model",
                                       "key_variable",
                                       "max_tokens_field",
                                       "max_output_tokens",
                                       "context_tokens",
                                       "deadline",
                                       "retries",
                                       "effort",
                                       "thinking_tokens",
                                       "temperature",
                                       "prices",
                                       NULL};
    struct llm_opts *llm = &out->llm;
    if (!is_name(node->key)) {
        (void)yaml_error(node, err, "'%s' is no name for a model", node->key);
        return err_hint(err, "letters, digits, '.', '_' and '-'");
    }
    out->name = node->key;
    if (!yaml_check_keys(node, keys, err) || !read_dialect(node, llm, err) ||
        !yaml_read_string(node, "base_url", false, &llm->base_url, err) ||
        !yaml_read_string(node, "model", true, &llm->model, err) ||
        !read_key_variable(node, llm, err) ||
        !yaml_read_string(node, "max_tokens_field", false, &llm->max_tokens_field, err) ||
        !yaml_read_string(node, "effort", false, &llm->effort, err) ||
        !read_numbers(node, llm, err) || !read_prices(node, &llm->prices, err))
        return false;
    if (llm->base_url && str_equal(llm->dialect ? llm->dialect : "", "replay"))
        llm->base_url = config_path(llm->base_url, dir, arena);
    return true;
}

bool config_read_models(const struct yaml *models, const char *dir, struct arena *arena,
                        const struct config_model **out, size_t *out_count, struct err *err)
{
    if (models->type != YAML_MAPPING)
        return yaml_error(models, err, "'models' must be a mapping of names to models");
    struct config_model *list = arena_array(arena, models->count, sizeof *list);
    size_t count = 0;
    for (const struct yaml *node = models->first; node; node = node->next) {
        if (!read_model(node, dir, arena, &list[count++], err))
            return false;
    }
    *out = list;
    *out_count = count;
    return true;
}

const char *config_path(const char *text, const char *dir, struct arena *arena)
{
    const char *home = os_env("HOME");
    if (str_starts_with(text, "~/") && home)
        return os_path_join(arena, home, text + 2);
    return text[0] == '/' ? text : os_path_join(arena, dir, text);
}

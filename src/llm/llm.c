#include "llm/llm.h"

#include "base/str.h"
#include "base/tokens.h"
#include "llm/driver.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_OUTPUT_TOKENS = 8192, DEFAULT_RETRIES = 4 };
#define DEFAULT_DEADLINE_NS (INT64_C(120) * 1000000000)
#define DEFAULT_REPLY_LIMIT_BYTES ((size_t)4 * 1024 * 1024)

static const struct llm_driver *const drivers[] = {&llm_driver_openai, &llm_driver_replay, NULL};

static const struct llm_driver *find_driver(const char *name, struct err *err)
{
    for (size_t i = 0; drivers[i]; i++) {
        if (str_equal(drivers[i]->name, name))
            return drivers[i];
    }
    (void)err_set(err, ERR_UNSUPPORTED, "there is no model driver '%s'", name);
    (void)err_hint(err, "drivers are: openai, replay; most servers speak openai");
    return NULL;
}

static const char *copy_or_null(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static void fill_opts(const struct llm_opts *given, struct arena *arena, struct llm_opts *out)
{
    *out = *given;
    out->driver = copy_or_null(arena, given->driver);
    out->base_url = copy_or_null(arena, given->base_url);
    out->key_variable = copy_or_null(arena, given->key_variable);
    out->model = copy_or_null(arena, given->model);
    out->max_tokens_field = copy_or_null(arena, given->max_tokens_field);
    if (out->max_output_tokens <= 0)
        out->max_output_tokens = DEFAULT_MAX_OUTPUT_TOKENS;
    if (out->deadline_ns <= 0)
        out->deadline_ns = DEFAULT_DEADLINE_NS;
    if (out->reply_limit_bytes == 0)
        out->reply_limit_bytes = DEFAULT_REPLY_LIMIT_BYTES;
    if (out->retries == 0)
        out->retries = DEFAULT_RETRIES;
    if (out->retries < 0)
        out->retries = 0;
}

static void release(struct llm *llm)
{
    free(llm->state);
    arena_free(&llm->arena);
    free(llm);
}

bool llm_open(const struct llm_opts *opts, struct llm **out, struct err *err)
{
    const struct llm_driver *driver = find_driver(opts->driver ? opts->driver : "openai", err);
    if (!driver)
        return false;
    if (!opts->model || opts->model[0] == '\0') {
        (void)err_set(err, ERR_BAD_INPUT, "no model was named");
        return err_hint(err, "name one as its server lists it (GET /models)");
    }
    struct llm *llm = calloc(1, sizeof *llm);
    if (!llm)
        BUG("llm: out of memory");
    llm->driver = driver;
    llm->state = calloc(1, driver->state_bytes);
    if (!llm->state)
        BUG("llm: out of memory");
    fill_opts(opts, &llm->arena, &llm->opts);
    if (!driver->open(llm, err)) {
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

bool llm_chat(struct llm *llm, const struct llm_message *messages, size_t count,
              struct arena *arena, struct llm_reply *out, struct err *err)
{
    const int64_t start_ns = os_now_ns();
    struct llm_reply reply = {0};
    if (os_interrupted())
        return err_set(err, ERR_INTERRUPTED, "interrupted before the model was asked");
    if (!llm->driver->chat(llm, messages, count, arena, &reply, err))
        return false;
    reply.wall_ns = os_now_ns() - start_ns;
    *out = reply;
    return true;
}

int64_t llm_bound_input_tokens(const struct llm_message *messages, size_t count)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < count; i++)
        tokens += tokens_bound(messages[i].text, strlen(messages[i].text)) + TOKENS_PER_MESSAGE;
    return tokens;
}

int64_t llm_max_output_tokens(const struct llm *llm)
{
    return llm->opts.max_output_tokens;
}

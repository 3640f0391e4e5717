#include "mcp/mcp.h"

#include "base/str.h"
#include "mcp/service.h"
#include "mcp/transport.h"
#include "os/file.h"
#include "os/os.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ROOTS = 32, TOKEN_FILE_BYTES = 4096, MIN_TOKEN_CHARS = 16 };

static bool split_roots(const char *text, struct arena *arena, struct service_opts *opts,
                        struct err *err)
{
    const char **roots = arena_array(arena, MAX_ROOTS, sizeof *roots);
    opts->roots = roots;
    for (const char *at = text; at && *at != '\0'; at += *at == ':') {
        const size_t length = strcspn(at, ":");
        if (opts->root_count == MAX_ROOTS)
            return err_set(err, ERR_LIMIT, "--root names more than %d folders", MAX_ROOTS);
        if (length > 0)
            roots[opts->root_count++] = arena_strndup(arena, at, length);
        at += length;
    }
    return true;
}

static char *new_token(struct arena *arena)
{
    unsigned char random[24];
    char *token = arena_alloc(arena, 2 * sizeof random + 1);
    os_random(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(token + 2 * i, 3, "%02x", random[i]);
    return token;
}

/* From the variable, the file, or a new one; `*is_new` says which. */
static bool find_token(const struct command_call *call, const char **out, bool *is_new,
                       struct err *err)
{
    const char *variable = command_text(call, "token-env");
    const char *file = command_text(call, "token-file");
    char *text = NULL;
    *is_new = false;
    if (variable && file)
        return err_set(err, ERR_USAGE, "--token-env and --token-file exclude each other");
    if (variable) {
        const char *value = os_env(variable);
        if (!value)
            return err_set(err, ERR_USAGE, "the variable '%s' is not set", variable);
        text = arena_strdup(call->arena, value);
    } else if (file) {
        if (!os_read_file(file, TOKEN_FILE_BYTES, call->arena, &text, NULL, err))
            return false;
        text[strcspn(text, "\r\n")] = '\0';
    } else {
        *is_new = true;
        text = new_token(call->arena);
    }
    if (strlen(text) < MIN_TOKEN_CHARS) {
        (void)err_set(err, ERR_USAGE, "the token is shorter than %d characters", MIN_TOKEN_CHARS);
        return err_hint(err, "make one with 'openssl rand -hex 24'");
    }
    *out = text;
    return true;
}

static void on_ready(void *context, const char *url)
{
    const char *new_token_text = context;
    (void)fprintf(stderr, "kope: serving %s\n", url);
    if (new_token_text)
        (void)fprintf(stderr, "kope: bearer token %s\n", new_token_text);
}

static void on_tick(void *context)
{
    service_tick(context);
}

static void on_stop(void *context)
{
    service_stop(context);
}

static bool serve(const struct command_call *call, struct service *service, struct err *err)
{
    const char *address = command_text(call, "http");
    const struct mcp_host host = {.tick = on_tick, .stop = on_stop, .context = service};
    struct mcp_http_opts http = {.address = address,
                                 .any_interface = command_flag(call, "expose"),
                                 .host = host,
                                 .on_ready = on_ready};
    bool is_new = false;
    if (address && !find_token(call, &http.token, &is_new, err))
        return false;
    char *shown = is_new ? arena_strdup(call->arena, http.token) : NULL;
    http.on_ready_context = shown;
    struct mcp_server *server = mcp_server_open(service_catalogue(service));
    const bool ok =
        address ? mcp_serve_http(server, &http, err) : mcp_serve_stdio(server, &host, err);
    service_stop(service);
    mcp_server_close(&server);
    return ok;
}

bool mcp_main(const struct command_call *call, struct err *err)
{
    struct service_opts opts = {.memory_dir = command_text(call, "memory")};
    struct service *service = NULL;
    if (!command_text(call, "http") &&
        (command_text(call, "token-env") || command_text(call, "token-file") ||
         command_flag(call, "expose")))
        return err_set(err, ERR_USAGE, "--token-env, --token-file and --expose go with --http");
    if (!split_roots(command_text(call, "root"), call->arena, &opts, err) ||
        !service_open(&opts, &service, err))
        return false;
    const bool ok = serve(call, service, err);
    service_close(&service);
    return ok;
}

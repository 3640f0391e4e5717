#include "mcp/internal.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { HTTP_BAD_REQUEST = 400, MAX_VALUES = 65536 };

struct mcp_server *mcp_server_open(const struct mcp_catalogue *catalogue)
{
    struct mcp_server *server = calloc(1, sizeof *server);
    if (!server || pthread_mutex_init(&server->lock, NULL) != 0)
        BUG("mcp: out of memory");
    server->catalogue = catalogue;
    server->schemas =
        arena_array(&server->arena, catalogue->tool_count + 1, sizeof *server->schemas);
    for (size_t i = 0; i < catalogue->tool_count; i++) {
        const struct mcp_tool *tool = &catalogue->tools[i];
        struct err err = {0};
        if (!json_parse(tool->input_schema, strlen(tool->input_schema), tool->name, &server->arena,
                        &server->schemas[i], &err))
            BUG("mcp: the input schema of '%s': %s", tool->name, err.message);
    }
    return server;
}

void mcp_server_close(struct mcp_server **server)
{
    struct mcp_server *s = *server;
    if (!s)
        return;
    if (s->open)
        BUG("mcp: closed while '%s' is open", s->open->method);
    (void)pthread_mutex_destroy(&s->lock);
    arena_free(&s->arena);
    free(s);
    *server = NULL;
}

void mcp_disconnected(struct mcp_server *server, struct mcp_sink *sink)
{
    call_cancel(server, NULL, NULL, sink);
}

void mcp_refuse_long_message(struct mcp_sink *sink)
{
    send_error(sink, NULL, MCP_INVALID_REQUEST, HTTP_BAD_REQUEST, "a message is longer than 2 MiB",
               NULL);
}

static bool is_id(const struct json *id)
{
    return id && (id->type == JSON_INT || id->type == JSON_STRING);
}

static void write_versions(struct buf *data, const char *requested)
{
    struct json_writer w = {.out = data};
    json_begin_object(&w);
    json_key(&w, "supported");
    json_begin_array(&w);
    json_write_string(&w, MCP_MODERN_VERSION);
    json_end_array(&w);
    json_put_string(&w, "requested", requested);
    json_end_object(&w);
}

/* The subject of a request that Mcp-Name repeats, or NULL. */
static const char *name_in_body(const struct mcp_call *call)
{
    if (str_equal(call->method, "tools/call") || str_equal(call->method, "prompts/get"))
        return json_string(json_get(call->params, "name"), NULL);
    if (str_equal(call->method, "resources/read"))
        return json_string(json_get(call->params, "uri"), NULL);
    return NULL;
}

static bool same(const char *header, const char *body)
{
    return header && body && str_equal(header, body);
}

static bool headers_agree(const struct mcp_call *call, const struct mcp_headers *headers,
                          const char *version, const char **why)
{
    const char *name = name_in_body(call);
    *why = !same(headers->version, version) ? "the header MCP-Protocol-Version is not the body's "
                                              "version"
           : !same(headers->method, call->method) ? "the header Mcp-Method is not the body's method"
           : name && !same(headers->name, name)   ? "the header Mcp-Name is not the body's subject"
                                                  : NULL;
    return !*why;
}

/* What a request of the modern era must say of itself. Sends the error where it does not. */
static bool accept_modern(struct mcp_call *call, const struct mcp_headers *headers)
{
    const struct json *meta = json_get(call->params, "_meta");
    const struct json *version = json_get(meta, MCP_META "protocolVersion");
    const struct json *capabilities = json_get(meta, MCP_META "clientCapabilities");
    const char *why = NULL;
    if (!version || version->type != JSON_STRING)
        why = "params._meta lacks '" MCP_META "protocolVersion'";
    else if (!capabilities || capabilities->type != JSON_OBJECT)
        why = "params._meta lacks '" MCP_META "clientCapabilities'";
    if (why) {
        send_error(call->sink, call->id, MCP_INVALID_PARAMS, HTTP_BAD_REQUEST, why, NULL);
        return false;
    }
    if (headers && !headers_agree(call, headers, version->string, &why)) {
        send_error(call->sink, call->id, MCP_HEADER_MISMATCH, HTTP_BAD_REQUEST, why, NULL);
        return false;
    }
    if (!str_equal(version->string, MCP_MODERN_VERSION)) {
        CLEANUP(buf_free) struct buf data = {0};
        write_versions(&data, version->string);
        send_error(call->sink, call->id, MCP_UNSUPPORTED_VERSION, HTTP_BAD_REQUEST,
                   "this protocol version is not supported", buf_text(&data));
        return false;
    }
    call->is_modern = true;
    call->version = MCP_MODERN_VERSION;
    return true;
}

static bool accept_legacy(struct mcp_call *call, const struct mcp_session *session,
                          const struct mcp_headers *headers)
{
    if (headers && headers->version && !legacy_version(headers->version)) {
        send_error(call->sink, call->id, MCP_INVALID_REQUEST, HTTP_BAD_REQUEST,
                   "the header MCP-Protocol-Version names a version that is not supported", NULL);
        return false;
    }
    if (!session->version && !str_equal(call->method, "initialize") &&
        !str_equal(call->method, "ping")) {
        send_error(call->sink, call->id, MCP_INVALID_PARAMS, HTTP_BAD_REQUEST,
                   "params._meta lacks '" MCP_META
                   "protocolVersion', and no 'initialize' came before",
                   NULL);
        return false;
    }
    call->version = session->version ? session->version : legacy_version(NULL);
    return true;
}

/* Which era a request belongs to: what it says itself, else the header, else the session. */
static bool accept(struct mcp_call *call, const struct mcp_session *session,
                   const struct mcp_headers *headers)
{
    const struct json *meta = json_get(call->params, "_meta");
    if (json_get(meta, MCP_META "protocolVersion") ||
        json_get(meta, MCP_META "clientCapabilities") ||
        str_equal(call->method, "server/discover") ||
        (headers && headers->version && str_equal(headers->version, MCP_MODERN_VERSION)))
        return accept_modern(call, headers);
    return accept_legacy(call, session, headers);
}

static void take_notification(struct mcp_server *server, const void *scope,
                              const struct json *message)
{
    const struct json *id = json_get(json_get(message, "params"), "requestId");
    if (str_equal(json_string(json_get(message, "method"), ""), "notifications/cancelled") &&
        is_id(id))
        call_cancel(server, scope, id, NULL);
}

static void take_request(struct mcp_server *server, struct mcp_session *session,
                         const struct mcp_headers *headers, struct mcp_call *call)
{
    static const struct json no_params = {.type = JSON_OBJECT};
    const struct json *token = json_get(json_get(call->params, "_meta"), "progressToken");
    const char *why = NULL;
    int code = 0;
    call->server = server;
    if (!call->params)
        call->params = &no_params;
    call->progress_token = is_id(token) ? token : NULL;
    call->arguments = &no_params;
    if (call->params->type != JSON_OBJECT)
        send_error(call->sink, call->id, MCP_INVALID_PARAMS, HTTP_BAD_REQUEST,
                   "'params' must be an object", NULL);
    else if (!accept(call, session, headers))
        ; /* the error is sent */
    else if (!call_enter(call, &why, &code))
        send_error(call->sink, call->id, code, HTTP_BAD_REQUEST, why, NULL);
    else {
        method_dispatch(call, session);
        return;
    }
    call_free(call);
}

/* What is wrong with a message as JSON-RPC, or NULL. */
static const char *envelope_problem(const struct json *message)
{
    const struct json *version = json_get(message, "jsonrpc");
    const struct json *id = json_get(message, "id");
    const struct json *method = json_get(message, "method");
    if (message->type == JSON_ARRAY)
        return "batches are not part of the protocol";
    if (message->type != JSON_OBJECT)
        return "a message is an object";
    if (!version || version->type != JSON_STRING || !str_equal(version->string, "2.0"))
        return "'jsonrpc' must be '2.0'";
    if (id && !is_id(id))
        return "'id' must be a string or an integer";
    if (method && method->type != JSON_STRING)
        return "'method' must be a string";
    if (!method && !json_get(message, "result") && !json_get(message, "error"))
        return "'method' is missing";
    return NULL;
}

/* At least as many as the message has values: each takes far more memory than its two bytes. */
static size_t values_in(const char *text, size_t length)
{
    size_t count = 1;
    bool in_string = false;
    for (size_t i = 0; i < length; i++) {
        if (in_string && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            in_string = !in_string;
        else if (!in_string)
            count += text[i] == ',' || text[i] == '[' || text[i] == '{';
    }
    return count;
}

bool mcp_receive(struct mcp_server *server, struct mcp_session *session, struct mcp_sink *sink,
                 const struct mcp_headers *headers, const char *text, size_t length)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct json *message = NULL;
    const void *scope = session->scope ? session->scope : (const void *)sink;
    if (values_in(text, length) > MAX_VALUES) {
        send_error(sink, NULL, MCP_INVALID_REQUEST, HTTP_BAD_REQUEST,
                   "a message holds too many values", NULL);
        return true;
    }
    if (!json_parse(text, length, "message", &arena, &message, &err)) {
        send_error(sink, NULL, MCP_PARSE_ERROR, HTTP_BAD_REQUEST, err.message, NULL);
        arena_free(&arena);
        return true;
    }
    const struct json *id = json_get(message, "id");
    const char *problem = envelope_problem(message);
    if (problem) {
        send_error(sink, is_id(id) ? id : NULL, MCP_INVALID_REQUEST, HTTP_BAD_REQUEST, problem,
                   NULL);
        arena_free(&arena);
        return true;
    }
    const struct json *method = json_get(message, "method");
    if (!id || !method) {
        if (method)
            take_notification(server, scope, message);
        arena_free(&arena);
        return false;
    }
    struct mcp_call *call = arena_alloc(&arena, sizeof *call);
    *call = (struct mcp_call){.id = id,
                              .method = method->string,
                              .params = json_get(message, "params"),
                              .sink = sink,
                              .scope = scope,
                              .arena = arena};
    take_request(server, session, headers, call);
    return true;
}

#include "mcp/internal.h"

#include "base/str.h"
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

enum { HTTP_OK = 200, CACHE_MS = 0 };

static void lock(struct mcp_server *server)
{
    if (pthread_mutex_lock(&server->lock) != 0)
        BUG("mcp: a lock fails");
}

static void unlock(struct mcp_server *server)
{
    if (pthread_mutex_unlock(&server->lock) != 0)
        BUG("mcp: a lock fails");
}

static bool same_id(const struct json *a, const struct json *b)
{
    if (a->type != b->type)
        return false;
    return a->type == JSON_INT ? a->integer == b->integer : str_equal(a->string, b->string);
}

bool call_enter(struct mcp_call *call, const char **why, int *code)
{
    struct mcp_server *server = call->server;
    *why = NULL;
    lock(server);
    if (server->open_count >= MCP_MAX_OPEN_CALLS) {
        *why = "too many requests are open: wait for answers";
        *code = MCP_OVERLOADED;
    }
    for (struct mcp_call *c = server->open; c && !*why; c = c->next) {
        if (c->scope == call->scope && same_id(c->id, call->id)) {
            *why = "a request with this id is still open";
            *code = MCP_INVALID_REQUEST;
        }
    }
    if (!*why) {
        call->references = 1;
        call->next = server->open;
        server->open = call;
        server->open_count++;
        call->sink->retain(call->sink);
    }
    unlock(server);
    return !*why;
}

size_t mcp_open_calls(struct mcp_server *server)
{
    lock(server);
    const size_t count = server->open_count;
    unlock(server);
    return count;
}

void call_free(struct mcp_call *call)
{
    struct arena arena = call->arena;
    arena_free(&arena);
}

static void unreference(struct mcp_call *call)
{
    struct mcp_server *server = call->server;
    lock(server);
    const bool is_last = --call->references == 0;
    unlock(server);
    if (is_last)
        call_free(call);
}

/* Takes the call out of the list and sends its answer, unless nobody wants it. */
static void end(struct mcp_call *call, const struct buf *text, int status)
{
    struct mcp_server *server = call->server;
    struct mcp_sink *sink = call->sink;
    lock(server);
    struct mcp_call **at = &server->open;
    while (*at && *at != call)
        at = &(*at)->next;
    if (!*at)
        BUG("mcp: a call ends twice");
    *at = call->next;
    server->open_count--;
    const bool is_wanted = text && !call->is_cancelled;
    unlock(server);
    if (is_wanted && !text->truncated)
        sink->send(sink, buf_text(text), text->length, status);
    else if (is_wanted)
        send_error(sink, call->id, MCP_INTERNAL_ERROR, HTTP_OK, "the answer is too large", NULL);
    else
        sink->send(sink, NULL, 0, 0);
    sink->release(sink);
    unreference(call);
}

void call_cancel(struct mcp_server *server, const void *scope, const struct json *id,
                 const struct mcp_sink *sink)
{
    const struct mcp_catalogue *catalogue = server->catalogue;
    for (;;) {
        struct mcp_call *found = NULL;
        lock(server);
        for (struct mcp_call *c = server->open; c && !found; c = c->next) {
            const bool is_meant = id ? c->scope == scope && same_id(c->id, id) : c->sink == sink;
            if (is_meant && !c->is_cancelled)
                found = c;
        }
        if (found) {
            found->is_cancelled = true;
            found->references++;
        }
        unlock(server);
        if (!found)
            return;
        if (catalogue->cancelled)
            catalogue->cancelled(catalogue->context, found);
        unreference(found);
    }
}

/* {"jsonrpc":"2.0","id":...: the beginning of every answer; left open. */
static void begin_answer(struct json_writer *w, const struct json *id)
{
    json_begin_object(w);
    json_put_string(w, "jsonrpc", "2.0");
    if (id) {
        json_key(w, "id");
        json_write_value(w, id);
    }
}

static void write_error(struct buf *text, const struct json *id, int code, const char *message,
                        const char *data)
{
    struct json_writer w = {.out = text};
    begin_answer(&w, id);
    json_key(&w, "error");
    json_begin_object(&w);
    json_put_int(&w, "code", code);
    json_put_string(&w, "message", message);
    if (data) {
        json_key(&w, "data");
        json_write_raw(&w, data, strlen(data));
    }
    json_end_object(&w);
    json_end_object(&w);
}

void send_error(struct mcp_sink *sink, const struct json *id, int code, int status,
                const char *message, const char *data)
{
    CLEANUP(buf_free) struct buf text = {0};
    write_error(&text, id, code, message, data);
    sink->send(sink, buf_text(&text), text.length, status);
}

void call_fail(struct mcp_call *call, int code, int status, const char *message, const char *data)
{
    CLEANUP(buf_free) struct buf text = {0};
    write_error(&text, call->id, code, message, data);
    end(call, &text, status);
}

void mcp_call_error(struct mcp_call *call, int code, const char *message, const char *data)
{
    call_fail(call, code, HTTP_OK, message, data);
}

void mcp_call_no_resource(struct mcp_call *call, const char *uri)
{
    CLEANUP(buf_free) struct buf data = {0};
    struct json_writer w = {.out = &data};
    json_begin_object(&w);
    json_put_string(&w, "uri", uri);
    json_end_object(&w);
    mcp_call_error(call, call->is_modern ? MCP_INVALID_PARAMS : MCP_LEGACY_RESOURCE_NOT_FOUND,
                   "there is no such resource", buf_text(&data));
}

void mcp_call_drop(struct mcp_call *call)
{
    end(call, NULL, 0);
}

/* What every modern result carries. */
static void write_modern_members(struct mcp_call *call, struct json_writer *w, bool is_cacheable)
{
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    json_put_string(w, "resultType", "complete");
    if (is_cacheable) {
        json_put_int(w, "ttlMs", CACHE_MS);
        json_put_string(w, "cacheScope", "private");
    }
    json_key(w, "_meta");
    json_begin_object(w);
    json_key(w, MCP_META "serverInfo");
    json_begin_object(w);
    json_put_string(w, "name", catalogue->name);
    json_put_string(w, "title", catalogue->title);
    json_put_string(w, "version", catalogue->version);
    json_end_object(w);
    json_end_object(w);
}

void mcp_call_result(struct mcp_call *call, const char *members, bool is_cacheable)
{
    CLEANUP(buf_free) struct buf result = {0};
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    (void)buf_append_char(&result, '{');
    if (call->is_modern) {
        CLEANUP(buf_free) struct buf more = {0};
        struct json_writer m = {.out = &more};
        json_begin_object(&m);
        write_modern_members(call, &m, is_cacheable);
        json_end_object(&m);
        (void)buf_append(&result, more.data + 1, more.length - 2);
        if (members[0] != '\0')
            (void)buf_append_char(&result, ',');
    }
    (void)buf_append_str(&result, members);
    (void)buf_append_char(&result, '}');
    begin_answer(&w, call->id);
    json_key(&w, "result");
    json_write_raw(&w, buf_text(&result), result.length);
    json_end_object(&w);
    text.truncated = text.truncated || result.truncated;
    end(call, &text, HTTP_OK);
}

/* "content":[{"type":"text","text":...}] */
static void append_content(struct buf *members, const char *text)
{
    struct json_writer w = {.out = members};
    (void)buf_append_str(members, "\"content\":[{\"type\":\"text\",\"text\":");
    json_write_string(&w, text);
    (void)buf_append_str(members, "}]");
}

void mcp_call_structured(struct mcp_call *call, const char *object)
{
    CLEANUP(buf_free) struct buf members = {0};
    append_content(&members, object);
    /* Clients of the first revisions know no structured content. */
    if (strcmp(call->version, "2025-06-18") >= 0)
        (void)buf_printf(&members, ",\"structuredContent\":%s", object);
    mcp_call_result(call, buf_text(&members), false);
}

void mcp_call_refuse(struct mcp_call *call, const struct err *err)
{
    CLEANUP(buf_free) struct buf document = {0};
    CLEANUP(buf_free) struct buf members = {0};
    command_write_error_json(err, &document);
    if (!str_equal(call->method, "tools/call")) {
        mcp_call_error(call, MCP_INTERNAL_ERROR, err->message, buf_text(&document));
        return;
    }
    append_content(&members, buf_text(&document));
    (void)buf_append_str(&members, ",\"isError\":true");
    mcp_call_result(call, buf_text(&members), false);
}

void mcp_call_progress(struct mcp_call *call, const char *message)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    if (!call->progress_token || mcp_call_is_cancelled(call))
        return;
    lock(call->server);
    const int64_t progress = ++call->progress;
    unlock(call->server);
    json_begin_object(&w);
    json_put_string(&w, "jsonrpc", "2.0");
    json_put_string(&w, "method", "notifications/progress");
    json_key(&w, "params");
    json_begin_object(&w);
    json_key(&w, "progressToken");
    json_write_value(&w, call->progress_token);
    json_put_int(&w, "progress", progress);
    if (message)
        json_put_string(&w, "message", message);
    json_end_object(&w);
    json_end_object(&w);
    call->sink->send(call->sink, buf_text(&text), text.length, 0);
}

struct arena *mcp_call_arena(struct mcp_call *call)
{
    return &call->arena;
}

const struct json *mcp_call_arguments(const struct mcp_call *call)
{
    return call->arguments;
}

bool mcp_call_is_cancelled(struct mcp_call *call)
{
    lock(call->server);
    const bool is_cancelled = call->is_cancelled;
    unlock(call->server);
    return is_cancelled;
}

void mcp_call_set_slot(struct mcp_call *call, void *value)
{
    call->slot = value;
}

void *mcp_call_slot(const struct mcp_call *call)
{
    return call->slot;
}

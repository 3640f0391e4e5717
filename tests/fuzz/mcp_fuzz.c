/*
 * Any bytes as the lines of a client: parsed, checked, dispatched to tools that answer at once,
 * later or never of themselves. Each call ends exactly once (the server checks it), and each
 * message that the server sends is one JSON document. The real tools run on threads and measure;
 * here stands a catalogue with the same schemas and tools that use every way to end a call.
 */
#include "base/str.h"
#include "mcp/server.h"
#include "mcp/service.h"
#include "mcp/service/internal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_HELD = 8 };

struct fake {
    struct mcp_sink sink; /* first */
    struct mcp_call *held[MAX_HELD];
    size_t count;
};

static void check_message(struct mcp_sink *sink, const char *text, size_t length, int status)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct json *message = NULL;
    struct err err = {0};
    (void)sink;
    (void)status;
    if (!text)
        return;
    if (memchr(text, '\n', length))
        BUG("fuzz: a message of two lines");
    if (!json_parse(text, length, "answer", &arena, &message, &err))
        BUG("fuzz: %s", err.message);
    if (!str_equal(json_string(json_get(message, "jsonrpc"), ""), "2.0"))
        BUG("fuzz: no JSON-RPC");
}

static void keep(struct mcp_sink *sink)
{
    (void)sink;
}

static void answer_now(void *context, struct mcp_call *call)
{
    (void)context;
    mcp_call_progress(call, "begun");
    mcp_call_structured(call, "{}");
}

static void refuse_now(void *context, struct mcp_call *call)
{
    const struct err err = {.kind = ERR_BUSY, .message = "busy", .hint = "wait"};
    (void)context;
    mcp_call_refuse(call, &err);
}

static void answer_later(void *context, struct mcp_call *call)
{
    struct fake *fake = context;
    if (fake->count == MAX_HELD)
        refuse_now(context, call);
    else
        fake->held[fake->count++] = call;
}

static void end_held(struct fake *fake)
{
    while (fake->count > 0) {
        struct mcp_call *call = fake->held[--fake->count];
        if (mcp_call_is_cancelled(call))
            mcp_call_drop(call);
        else
            mcp_call_structured(call, "{}");
    }
}

static void no_resource(void *context, struct mcp_call *call, const char *uri)
{
    (void)context;
    mcp_call_no_resource(call, uri);
}

static void no_resources(void *context, struct mcp_call *call)
{
    (void)context;
    mcp_call_result(call, "\"resources\":[]", true);
}

/* A cancelled call that is held ends at once. */
static void on_cancelled(void *context, struct mcp_call *call)
{
    struct fake *fake = context;
    for (size_t i = 0; i < fake->count; i++) {
        if (fake->held[i] != call)
            continue;
        fake->held[i] = fake->held[--fake->count];
        mcp_call_drop(call);
        return;
    }
}

static void take_lines(struct mcp_server *server, struct fake *fake, const char *text, size_t size)
{
    struct mcp_session session = {.scope = fake};
    const struct mcp_headers headers = {"2026-07-28", "tools/call", "kope_runs"};
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - text) - at : size - at;
        /* A line that begins with '>' comes by HTTP. */
        const bool is_http = length > 0 && text[at] == '>';
        (void)mcp_receive(server, &session, &fake->sink, is_http ? &headers : NULL,
                          text + at + is_http, length - is_http);
        at += length + 1;
        if (fake->count == MAX_HELD)
            end_held(fake);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct fake fake = {.sink = {.send = check_message, .retain = keep, .release = keep}};
    size_t count = 0;
    const struct mcp_tool *real = tools_make(&arena, &count);
    struct mcp_tool *tools = arena_memdup(&arena, real, count * sizeof *real);
    void (*const ways[])(void *, struct mcp_call *) = {answer_now, refuse_now, answer_later};
    for (size_t i = 0; i < count; i++)
        tools[i].run = ways[i % (sizeof ways / sizeof *ways)];
    const struct mcp_catalogue catalogue = {.name = "fuzz",
                                            .title = "fuzz",
                                            .version = "0",
                                            .instructions = service_instructions,
                                            .tools = tools,
                                            .tool_count = count,
                                            .resource_templates = resource_templates,
                                            .prompts = prompts_list,
                                            .list_resources = no_resources,
                                            .read_resource = no_resource,
                                            .get_prompt = prompt_get,
                                            .cancelled = on_cancelled,
                                            .context = &fake};
    struct mcp_server *server = mcp_server_open(&catalogue);
    const char *text = arena_strndup(&arena, (const char *)data, size);
    take_lines(server, &fake, text, size);
    mcp_disconnected(server, &fake.sink);
    end_held(&fake);
    mcp_server_close(&server);
    return 0;
}

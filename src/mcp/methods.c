#include "mcp/internal.h"

#include "base/str.h"
#include "mcp/schema.h"

#include <string.h>

enum { HTTP_BAD_REQUEST = 400, HTTP_NOT_FOUND = 404 };

/* Newest first; the first is what a client of an unknown version is offered. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

const char *legacy_version(const char *version)
{
    for (size_t i = 0; version && i < sizeof legacy_versions / sizeof *legacy_versions; i++) {
        if (str_equal(legacy_versions[i], version))
            return legacy_versions[i];
    }
    return version ? NULL : legacy_versions[0];
}

static void write_capabilities(const struct mcp_catalogue *catalogue, struct json_writer *w)
{
    const bool offers[] = {catalogue->tool_count != 0, catalogue->read_resource != NULL,
                           catalogue->prompts != NULL};
    static const char *const names[] = {"tools", "resources", "prompts"};
    json_key(w, "capabilities");
    json_begin_object(w);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!offers[i])
            continue;
        json_key(w, names[i]);
        json_begin_object(w);
        json_end_object(w);
    }
    json_end_object(w);
}

/* Ends the call with what was written between the braces of one object. */
static void answer_object(struct mcp_call *call, const struct buf *object, bool is_cacheable)
{
    const char *members =
        arena_strndup(&call->arena, object->data + 1, object->length >= 2 ? object->length - 2 : 0);
    mcp_call_result(call, members, is_cacheable);
}

static void do_initialize(struct mcp_call *call, struct mcp_session *session)
{
    CLEANUP(buf_free) struct buf object = {0};
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    const char *asked = json_string(json_get(call->params, "protocolVersion"), "");
    const char *version = legacy_version(asked);
    struct json_writer w = {.out = &object};
    session->version = version ? version : legacy_version(NULL);
    json_begin_object(&w);
    json_put_string(&w, "protocolVersion", session->version);
    write_capabilities(catalogue, &w);
    json_key(&w, "serverInfo");
    json_begin_object(&w);
    json_put_string(&w, "name", catalogue->name);
    json_put_string(&w, "title", catalogue->title);
    json_put_string(&w, "version", catalogue->version);
    json_end_object(&w);
    json_put_string(&w, "instructions", catalogue->instructions);
    json_end_object(&w);
    answer_object(call, &object, false);
}

static void do_ping(struct mcp_call *call, struct mcp_session *session)
{
    (void)session;
    mcp_call_result(call, "", false);
}

static void do_discover(struct mcp_call *call, struct mcp_session *session)
{
    CLEANUP(buf_free) struct buf object = {0};
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    struct json_writer w = {.out = &object};
    (void)session;
    json_begin_object(&w);
    json_key(&w, "supportedVersions");
    json_begin_array(&w);
    json_write_string(&w, MCP_MODERN_VERSION);
    json_end_array(&w);
    write_capabilities(catalogue, &w);
    json_put_string(&w, "instructions", catalogue->instructions);
    json_end_object(&w);
    answer_object(call, &object, true);
}

static void write_tool(const struct mcp_call *call, const struct mcp_tool *tool,
                       struct json_writer *w)
{
    json_begin_object(w);
    json_put_string(w, "name", tool->name);
    if (tool->title && strcmp(call->version, "2025-06-18") >= 0)
        json_put_string(w, "title", tool->title);
    json_put_string(w, "description", tool->description);
    json_key(w, "inputSchema");
    json_write_raw(w, tool->input_schema, strlen(tool->input_schema));
    if (tool->output_schema && strcmp(call->version, "2025-06-18") >= 0) {
        json_key(w, "outputSchema");
        json_write_raw(w, tool->output_schema, strlen(tool->output_schema));
    }
    json_key(w, "annotations");
    json_begin_object(w);
    json_put_bool(w, "readOnlyHint", tool->is_read_only);
    json_put_bool(w, "destructiveHint", false);
    json_put_bool(w, "idempotentHint", tool->is_idempotent);
    json_put_bool(w, "openWorldHint", false);
    json_end_object(w);
    json_end_object(w);
}

static void do_tools_list(struct mcp_call *call, struct mcp_session *session)
{
    CLEANUP(buf_free) struct buf object = {0};
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    struct json_writer w = {.out = &object};
    (void)session;
    json_begin_object(&w);
    json_key(&w, "tools");
    json_begin_array(&w);
    for (size_t i = 0; i < catalogue->tool_count; i++)
        write_tool(call, &catalogue->tools[i], &w);
    json_end_array(&w);
    json_end_object(&w);
    answer_object(call, &object, true);
}

static bool has_capability(const struct mcp_call *call, const char *name)
{
    return !call->is_modern ||
           json_get(json_get(json_get(call->params, "_meta"), MCP_META "clientCapabilities"), name);
}

static void do_tools_call(struct mcp_call *call, struct mcp_session *session)
{
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    const struct json *name = json_get(call->params, "name");
    const struct json *arguments = json_get(call->params, "arguments");
    size_t index = 0;
    struct err err = {0};
    (void)session;
    while (index < catalogue->tool_count &&
           !str_equal(catalogue->tools[index].name, json_string(name, "")))
        index++;
    if (index == catalogue->tool_count) {
        mcp_call_error(
            call, MCP_INVALID_PARAMS,
            arena_printf(&call->arena, "there is no tool '%.64s'", json_string(name, "")), NULL);
        return;
    }
    const struct mcp_tool *tool = &catalogue->tools[index];
    if (tool->needs_capability && !has_capability(call, tool->needs_capability)) {
        call_fail(call, MCP_MISSING_CAPABILITY, HTTP_BAD_REQUEST,
                  "the client lacks a capability that this tool needs",
                  arena_printf(&call->arena, "{\"requiredCapabilities\":{\"%s\":{}}}",
                               tool->needs_capability));
        return;
    }
    if (!schema_check(call->server->schemas[index], arguments, "arguments", &err)) {
        mcp_call_refuse(call, &err);
        return;
    }
    if (arguments)
        call->arguments = arguments;
    tool->run(catalogue->context, call);
}

static void do_resources_list(struct mcp_call *call, struct mcp_session *session)
{
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    (void)session;
    catalogue->list_resources(catalogue->context, call);
}

static void do_templates_list(struct mcp_call *call, struct mcp_session *session)
{
    const char *templates = call->server->catalogue->resource_templates;
    (void)session;
    mcp_call_result(
        call, arena_printf(&call->arena, "\"resourceTemplates\":%s", templates ? templates : "[]"),
        true);
}

static void do_resources_read(struct mcp_call *call, struct mcp_session *session)
{
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    const char *uri = json_string(json_get(call->params, "uri"), NULL);
    (void)session;
    if (uri)
        catalogue->read_resource(catalogue->context, call, uri);
    else
        mcp_call_error(call, MCP_INVALID_PARAMS, "'uri' must be a string", NULL);
}

static void do_prompts_list(struct mcp_call *call, struct mcp_session *session)
{
    (void)session;
    mcp_call_result(
        call, arena_printf(&call->arena, "\"prompts\":%s", call->server->catalogue->prompts), true);
}

static void do_prompts_get(struct mcp_call *call, struct mcp_session *session)
{
    const struct mcp_catalogue *catalogue = call->server->catalogue;
    const char *name = json_string(json_get(call->params, "name"), NULL);
    const struct json *arguments = json_get(call->params, "arguments");
    (void)session;
    if (!name || (arguments && arguments->type != JSON_OBJECT)) {
        mcp_call_error(call, MCP_INVALID_PARAMS, "'name' is a string, 'arguments' an object", NULL);
        return;
    }
    if (arguments)
        call->arguments = arguments;
    catalogue->get_prompt(catalogue->context, call, name);
}

struct method {
    const char *name;
    bool in_legacy, in_modern;
    bool is_list; /* takes a cursor; we give none, so any is unknown */
    enum { NEEDS_NOTHING, NEEDS_TOOLS, NEEDS_RESOURCES, NEEDS_PROMPTS } needs;
    void (*run)(struct mcp_call *call, struct mcp_session *session);
};

static const struct method methods[] = {
    {"initialize", true, false, false, NEEDS_NOTHING, do_initialize},
    {"ping", true, false, false, NEEDS_NOTHING, do_ping},
    {"server/discover", false, true, false, NEEDS_NOTHING, do_discover},
    {"tools/list", true, true, true, NEEDS_TOOLS, do_tools_list},
    {"tools/call", true, true, false, NEEDS_TOOLS, do_tools_call},
    {"resources/list", true, true, true, NEEDS_RESOURCES, do_resources_list},
    {"resources/templates/list", true, true, true, NEEDS_RESOURCES, do_templates_list},
    {"resources/read", true, true, false, NEEDS_RESOURCES, do_resources_read},
    {"prompts/list", true, true, true, NEEDS_PROMPTS, do_prompts_list},
    {"prompts/get", true, true, false, NEEDS_PROMPTS, do_prompts_get},
};

static bool is_offered(const struct mcp_catalogue *catalogue, const struct method *method)
{
    switch (method->needs) {
    case NEEDS_TOOLS:
        return catalogue->tool_count != 0;
    case NEEDS_RESOURCES:
        return catalogue->read_resource != NULL;
    case NEEDS_PROMPTS:
        return catalogue->prompts != NULL;
    case NEEDS_NOTHING:
        break;
    }
    return true;
}

void method_dispatch(struct mcp_call *call, struct mcp_session *session)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *m = &methods[i];
        if (!str_equal(m->name, call->method) || !(call->is_modern ? m->in_modern : m->in_legacy) ||
            !is_offered(call->server->catalogue, m))
            continue;
        if (m->is_list && json_get(call->params, "cursor"))
            mcp_call_error(call, MCP_INVALID_PARAMS, "this cursor was not given by us", NULL);
        else
            m->run(call, session);
        return;
    }
    call_fail(call, MCP_METHOD_NOT_FOUND, call->is_modern ? HTTP_NOT_FOUND : 200,
              arena_printf(&call->arena, "there is no method '%.64s'", call->method), NULL);
}

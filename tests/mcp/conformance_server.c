/*
 * use: mcp_conformance_server [ADDRESS]. The server core and the HTTP transport of KOPE with the
 * tools, resources and prompts that the conformance suite of the protocol asks for; what the suite
 * says that each must give stands in its own descriptions. Never part of kope. Prints its URL.
 */
#include "base/buf.h"
#include "base/str.h"
#include "mcp/server.h"
#include "mcp/transport.h"
#include "os/os.h"

#include <stdio.h>
#include <string.h>

/* One red pixel, and a quarter of nothing. */
#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5Erk"   \
    "Jggg=="
#define WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define IMAGE "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

/* Answers that are always the same: members of the result. */
static const struct {
    const char *tool, *members;
} answers[] = {
    {"test_simple_text", "\"content\":[" TEXT("This is a simple text response for testing.") "]"},
    {"test_image_content", "\"content\":[" IMAGE "]"},
    {"test_audio_content",
     "\"content\":[{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}]"},
    {"test_embedded_resource",
     "\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
     "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]"},
    {"test_multiple_content_types",
     "\"content\":[" TEXT(
         "Multiple content types test:") "," IMAGE ",{\"type\":\"resource\",\"resource\":{\"uri\":"
                                         "\"test://mixed-content-resource\","
                                         "\"mimeType\":\"application/"
                                         "json\",\"text\":\"{\\\"test\\\":\\\"data\\\","
                                         "\\\"value\\\":123}\"}"
                                         "}]"},
    {"test_error_handling",
     "\"isError\":true,\"content\":[" TEXT("This tool intentionally returns an error for "
                                           "testing") "]"},
    {"test_logging_tool", "\"content\":[" TEXT("nothing is logged") "]"},
    {"test_streaming_elicitation", "\"content\":[" TEXT("nothing is asked") "]"},
    {"test_missing_capability", "\"content\":[" TEXT("the client can sample") "]"},
    {"json_schema_2020_12_tool", "\"content\":[" TEXT("valid") "]"},
};

static void answer(struct mcp_call *call, const char *tool)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (str_equal(answers[i].tool, tool)) {
            mcp_call_result(call, answers[i].members, false);
            return;
        }
    }
    BUG("conformance: no answer for '%s'", tool);
}

#define ANSWERS(name)                                                                              \
    static void run_##name(void *context, struct mcp_call *call)                                   \
    {                                                                                              \
        (void)context;                                                                             \
        answer(call, #name);                                                                       \
    }
ANSWERS(test_simple_text)
ANSWERS(test_image_content)
ANSWERS(test_audio_content)
ANSWERS(test_embedded_resource)
ANSWERS(test_multiple_content_types)
ANSWERS(test_error_handling)
ANSWERS(test_logging_tool)
ANSWERS(test_streaming_elicitation)
ANSWERS(test_missing_capability)
ANSWERS(json_schema_2020_12_tool)

static void run_progress(void *context, struct mcp_call *call)
{
    static const char *const steps[] = {"begun", "half", "done"};
    (void)context;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        mcp_call_progress(call, steps[i]);
        os_sleep_ns(INT64_C(50000000));
    }
    mcp_call_result(call, "\"content\":[" TEXT("three steps") "]", false);
}

static const struct mcp_tool tools[] = {
#define TOOL(tool)                                                                                 \
    {                                                                                              \
        .name = #tool, .description = "a fixture", .input_schema = NO_ARGUMENTS, .run = run_##tool \
    }
    TOOL(test_simple_text),
    TOOL(test_image_content),
    TOOL(test_audio_content),
    TOOL(test_embedded_resource),
    TOOL(test_multiple_content_types),
    TOOL(test_error_handling),
    TOOL(test_logging_tool),
    TOOL(test_streaming_elicitation),
    {.name = "test_tool_with_progress",
     .description = "a fixture",
     .input_schema = NO_ARGUMENTS,
     .run = run_progress},
    {.name = "test_missing_capability",
     .description = "a fixture",
     .input_schema = NO_ARGUMENTS,
     .needs_capability = "sampling",
     .run = run_test_missing_capability},
    {.name = "json_schema_2020_12_tool",
     .description = "Tool with JSON Schema 2020-12 features",
     .input_schema =
         "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
         "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{"
         "\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
         "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/"
         "address\"},"
         "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
         "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
         "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
         "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
         "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"
         "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}",
     .run = run_json_schema_2020_12_tool},
};

static void list_resources(void *context, struct mcp_call *call)
{
    (void)context;
    mcp_call_result(call,
                    "\"resources\":[{\"uri\":\"test://static-text\",\"name\":\"text\","
                    "\"description\":\"a fixture\",\"mimeType\":\"text/plain\"},"
                    "{\"uri\":\"test://static-binary\",\"name\":\"binary\","
                    "\"description\":\"a fixture\",\"mimeType\":\"image/png\"}]",
                    true);
}

static void read_resource(void *context, struct mcp_call *call, const char *uri)
{
    static const char begin[] = "test://template/";
    struct arena *arena = mcp_call_arena(call);
    (void)context;
    if (str_equal(uri, "test://static-text")) {
        mcp_call_result(call,
                        "\"contents\":[{\"uri\":\"test://static-text\",\"mimeType\":\"text/plain\","
                        "\"text\":\"This is the content of the static text resource.\"}]",
                        true);
    } else if (str_equal(uri, "test://static-binary")) {
        mcp_call_result(call,
                        "\"contents\":[{\"uri\":\"test://static-binary\",\"mimeType\":"
                        "\"image/png\",\"blob\":\"" PNG "\"}]",
                        true);
    } else if (str_starts_with(uri, begin) && str_ends_with(uri, "/data")) {
        const size_t length = strlen(uri) - strlen(begin) - strlen("/data");
        const char *id = arena_strndup(arena, uri + strlen(begin), length);
        mcp_call_result(call,
                        arena_printf(arena,
                                     "\"contents\":[{\"uri\":\"%s\",\"mimeType\":"
                                     "\"application/json\",\"text\":\"{\\\"id\\\":\\\"%s\\\","
                                     "\\\"templateTest\\\":true,\\\"data\\\":\\\"Data for ID: "
                                     "%s\\\"}\"}]",
                                     uri, id, id),
                        true);
    } else {
        mcp_call_no_resource(call, uri);
    }
}

static const char prompts[] =
    "[{\"name\":\"test_simple_prompt\",\"description\":\"a fixture\"},"
    "{\"name\":\"test_prompt_with_arguments\",\"description\":\"a fixture\",\"arguments\":["
    "{\"name\":\"arg1\",\"description\":\"first\",\"required\":true},"
    "{\"name\":\"arg2\",\"description\":\"second\",\"required\":true}]},"
    "{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"a fixture\",\"arguments\":["
    "{\"name\":\"resourceUri\",\"description\":\"what to embed\",\"required\":true}]},"
    "{\"name\":\"test_prompt_with_image\",\"description\":\"a fixture\"}]";

#define MESSAGE(content) "{\"role\":\"user\",\"content\":" content "}"

static const char *text_of(struct mcp_call *call, const char *name)
{
    return json_string(json_get(mcp_call_arguments(call), name), "");
}

static void get_prompt(void *context, struct mcp_call *call, const char *name)
{
    struct arena *arena = mcp_call_arena(call);
    const char *members = NULL;
    (void)context;
    if (str_equal(name, "test_simple_prompt"))
        members = "\"messages\":[" MESSAGE(TEXT("This is a simple prompt for testing.")) "]";
    else if (str_equal(name, "test_prompt_with_arguments"))
        members = arena_printf(
            arena,
            "\"messages\":[" MESSAGE(TEXT("Prompt with arguments: arg1='%s', arg2='%s'")) "]",
            text_of(call, "arg1"), text_of(call, "arg2"));
    else if (str_equal(name, "test_prompt_with_embedded_resource"))
        members =
            arena_printf(arena,
                         "\"messages\":[" MESSAGE("{\"type\":\"resource\",\"resource\":{\"uri\":\"%"
                                                  "s\",\"mimeType\":\"text/plain\","
                                                  "\"text\":\"Embedded resource content for "
                                                  "testing.\"}}") "," MESSAGE(TEXT("Please process "
                                                                                   "the embedded "
                                                                                   "resource "
                                                                                   "above.")) "]",
                         text_of(call, "resourceUri"));
    else if (str_equal(name, "test_prompt_with_image"))
        members = "\"messages\":[" MESSAGE(IMAGE) "," MESSAGE(
            TEXT("Please analyze the image above.")) "]";
    if (members)
        mcp_call_result(call, members, false);
    else
        mcp_call_error(call, MCP_INVALID_PARAMS, "there is no such prompt", NULL);
}

static void on_ready(void *context, const char *url)
{
    (void)context;
    (void)printf("%s\n", url);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct mcp_catalogue catalogue = {
        .name = "kope-conformance",
        .title = "KOPE's server with fixtures",
        .version = KOPE_VERSION,
        .instructions = "for the conformance suite",
        .tools = tools,
        .tool_count = sizeof tools / sizeof *tools,
        .resource_templates = "[{\"uriTemplate\":\"test://template/{id}/data\",\"name\":\"data\","
                              "\"mimeType\":\"application/json\"}]",
        .prompts = prompts,
        .list_resources = list_resources,
        .read_resource = read_resource,
        .get_prompt = get_prompt,
    };
    struct err err = {0};
    os_interrupt_install();
    struct mcp_server *server = mcp_server_open(&catalogue);
    const struct mcp_http_opts opts = {.address = argc > 1 ? argv[1] : "127.0.0.1:0",
                                       .on_ready = on_ready};
    const bool ok = mcp_serve_http(server, &opts, &err);
    mcp_server_close(&server);
    if (!ok)
        (void)fprintf(stderr, "%s\n", err.message);
    return ok ? 0 : 1;
}

/*
 * The Model Context Protocol, server side, apart from what is served (a catalogue) and from how
 * bytes travel (stdio.c, http.c).
 *
 * Both eras: legacy (2024-11-05 to 2025-11-25: initialize, ping, state in a session) and modern
 * (2026-07-28: no state, the version in each request, server/discover). A transport gives each
 * message to mcp_receive with the sink for its answers. A request becomes a call, which the server
 * answers at once or hands to the catalogue; the catalogue ends each call exactly once, from any
 * thread. Messages are hostile: capped by the transport, checked here, and the calls that are open
 * at a time are counted.
 *
 * Threads: mcp_receive may run on several threads at once. One lock guards the list of open calls;
 * no callback is called with it held.
 */
#ifndef KOPE_MCP_SERVER_H
#define KOPE_MCP_SERVER_H

#include "base/arena.h"
#include "base/err.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MCP_MAX_MESSAGE_BYTES = 2 * 1024 * 1024,
    MCP_MAX_OPEN_CALLS = 256,
};

/* JSON-RPC and MCP error codes. */
enum {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_OVERLOADED = -32000,
    MCP_LEGACY_RESOURCE_NOT_FOUND = -32002,
    MCP_HEADER_MISMATCH = -32020,
    MCP_MISSING_CAPABILITY = -32021,
    MCP_UNSUPPORTED_VERSION = -32022,
};

/* Where the messages to one client go: all of stdio, or one HTTP request. Counted: the server
 * retains a sink for each open call. */
struct mcp_sink {
    /* One message without a line end; `status` is the HTTP status of an answer, 0 for a
     * notification. `text` NULL: the call ended without an answer. Any thread. */
    void (*send)(struct mcp_sink *sink, const char *text, size_t length, int status);
    void (*retain)(struct mcp_sink *sink);
    void (*release)(struct mcp_sink *sink);
};

/* State of a legacy client; zeroed at first. */
struct mcp_session {
    const char *version; /* negotiated, a constant; NULL before initialize */
    const void *scope;   /* ids are unique within what this points to; NULL: within a sink */
};

/* What HTTP headers say; they must agree with the body. NULL where absent. */
struct mcp_headers {
    const char *version, *method, *name;
};

struct mcp_server; /* opaque */
struct mcp_call;   /* opaque: a request that is being answered */

struct mcp_tool {
    const char *name;
    const char *title; /* NULL: none */
    const char *description;
    const char *input_schema;  /* JSON */
    const char *output_schema; /* JSON; NULL: answers are content only */
    bool is_read_only, is_idempotent;
    const char *needs_capability; /* of the client, as "sampling"; NULL: none */
    /* Arguments are checked against the schema. Ends the call, now or later. */
    void (*run)(void *context, struct mcp_call *call);
};

struct mcp_catalogue {
    const char *name, *title, *version, *instructions;
    const struct mcp_tool *tools; /* in the order of tools/list */
    size_t tool_count;
    const char *resource_templates; /* JSON array of resource templates */
    const char *prompts;            /* JSON array of prompts; NULL: none */
    /* End the call with {"resources": [...]}, {"contents": [...]}, {"messages": [...]}. NULL
     * together where there are none. */
    void (*list_resources)(void *context, struct mcp_call *call);
    void (*read_resource)(void *context, struct mcp_call *call, const char *uri);
    void (*get_prompt)(void *context, struct mcp_call *call, const char *name);
    /* The client does not want the call any more (its answer would be dropped). The catalogue may
     * end it early with mcp_call_drop; NULL: nothing to do. */
    void (*cancelled)(void *context, struct mcp_call *call);
    void *context;
};

/* The catalogue must outlive the server. A schema that is no JSON is a bug. */
struct mcp_server *mcp_server_open(const struct mcp_catalogue *catalogue);
/* All calls must have ended. */
void mcp_server_close(struct mcp_server **server);

/* Takes one message. `headers` NULL: stdio. False where it was no request that gets an answer on
 * this sink (a notification, a response). */
bool mcp_receive(struct mcp_server *server, struct mcp_session *session, struct mcp_sink *sink,
                 const struct mcp_headers *headers, const char *text, size_t length);

/* The client of this sink is gone: its calls are cancelled. */
void mcp_disconnected(struct mcp_server *server, struct mcp_sink *sink);

/* Calls that have no answer yet. */
size_t mcp_open_calls(struct mcp_server *server);

/* A message over MCP_MAX_MESSAGE_BYTES was thrown away. */
void mcp_refuse_long_message(struct mcp_sink *sink);

/* --- for the catalogue --- */

/* Memory that lives as long as the call. */
struct arena *mcp_call_arena(struct mcp_call *call);
const struct json *mcp_call_arguments(const struct mcp_call *call); /* never NULL */
bool mcp_call_is_cancelled(struct mcp_call *call);
/* A progress notification, where the client asked for them: each is one step further. */
void mcp_call_progress(struct mcp_call *call, const char *message);
/* Any slot for the catalogue's own use. */
void mcp_call_set_slot(struct mcp_call *call, void *value);
void *mcp_call_slot(const struct mcp_call *call);

/* The ends of a call; each frees it. */

/* Members of the result, as JSON without the outer braces. `is_cacheable`: of a list or a read. */
void mcp_call_result(struct mcp_call *call, const char *members, bool is_cacheable);
/* A tool's structured answer: one JSON object, given as text too. */
void mcp_call_structured(struct mcp_call *call, const char *object);
/* It could not be done: for a tool an error result with kind, message and hint, else a protocol
 * error. */
void mcp_call_refuse(struct mcp_call *call, const struct err *err);
/* The resource that was asked for does not exist. */
void mcp_call_no_resource(struct mcp_call *call, const char *uri);
/* A protocol error; `data` is JSON or NULL. */
void mcp_call_error(struct mcp_call *call, int code, const char *message, const char *data);
/* No answer at all: for calls that were cancelled. */
void mcp_call_drop(struct mcp_call *call);

#endif

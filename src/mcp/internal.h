/* Inside mcp/: server and call as structures, shared by protocol.c, methods.c and call.c. */
#ifndef KOPE_MCP_INTERNAL_H
#define KOPE_MCP_INTERNAL_H

#include "mcp/server.h"

#include <pthread.h>

#define MCP_MODERN_VERSION "2026-07-28"
#define MCP_META "io.modelcontextprotocol/"

struct mcp_server {
    const struct mcp_catalogue *catalogue;
    struct arena arena;          /* parsed schemas */
    const struct json **schemas; /* input schema of each tool */
    pthread_mutex_t lock;
    struct mcp_call *open; /* newest first */
    size_t open_count;
};

struct mcp_call {
    struct mcp_server *server;
    struct arena arena;
    const struct json *id, *params, *arguments;
    const struct json *progress_token; /* NULL: none */
    const char *method;
    const char *version; /* negotiated or of the request */
    bool is_modern;
    const void *scope; /* ids are unique within it: the session, or the sink */
    struct mcp_sink *sink;
    void *slot;
    int64_t progress; /* last step told */
    /* Under the server's lock. */
    struct mcp_call *next;
    bool is_cancelled;
    int references; /* the one that ends it, and whoever cancels it meanwhile */
};

/* call.c */

/* Puts a call into the list of open ones; false, with the reason, where there are too many or its
 * id is in use: then it is the caller's to free. */
bool call_enter(struct mcp_call *call, const char **why, int *code);
void call_free(struct mcp_call *call);
/* Cancels the open call of that scope and id (NULL: all of the sink). */
void call_cancel(struct mcp_server *server, const void *scope, const struct json *id,
                 const struct mcp_sink *sink);
/* An error for a message that did not become a call; `id` may be NULL. */
void send_error(struct mcp_sink *sink, const struct json *id, int code, int status,
                const char *message, const char *data);
/* As mcp_call_error, with the HTTP status. */
void call_fail(struct mcp_call *call, int code, int status, const char *message, const char *data);

/* methods.c: answers a call or hands it to the catalogue. `session` for initialize alone. */
void method_dispatch(struct mcp_call *call, struct mcp_session *session);
/* The version as the constant that stands for it, or NULL. */
const char *legacy_version(const char *version);

#endif

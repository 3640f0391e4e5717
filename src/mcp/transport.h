/*
 * How messages travel: one JSON text a line over standard input and output, or Streamable HTTP.
 * Both serve until the client leaves or a signal comes; `tick` is called a few times a second.
 */
#ifndef KOPE_MCP_TRANSPORT_H
#define KOPE_MCP_TRANSPORT_H

#include "base/err.h"
#include "mcp/server.h"

#include <stdbool.h>

/* Whoever answers the calls. */
struct mcp_host {
    void (*tick)(void *context); /* NULL: nothing to do */
    /* No message comes any more: ends every call that is open before it returns. NULL: all calls
     * are answered at once. */
    void (*stop)(void *context);
    void *context;
};

/* At the end of input the calls that wait are still answered, as long as somebody reads. */
bool mcp_serve_stdio(struct mcp_server *server, const struct mcp_host *host, struct err *err);

struct mcp_http_opts {
    const char *address; /* "127.0.0.1:8080", "localhost:0", "[::1]:8080"; port 0: any */
    const char *token;   /* bearer token that requests must show; NULL: none */
    bool any_interface;  /* also addresses that others can reach */
    struct mcp_host host;
    void (*on_ready)(void *context, const char *url); /* NULL: nobody is told */
    void *on_ready_context;
};

/* One endpoint, /mcp: POST for messages, and for legacy sessions GET (a stream) and DELETE. The
 * host that a request names, and the origin where there is one, must be of this machine unless
 * `any_interface`. ERR_USAGE for an address that is none or that others can reach. */
bool mcp_serve_http(struct mcp_server *server, const struct mcp_http_opts *opts, struct err *err);

#endif

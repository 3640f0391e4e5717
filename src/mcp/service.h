/*
 * What KOPE serves over MCP: its tools, resources and prompts, as a catalogue.
 *
 * Two threads work: one owns the open runs with their gates (one gate, one thread), so that one
 * candidate is measured at a time; the other only reads memory, so that a search or a report does
 * not wait for a measurement. Whoever receives messages never waits for either: calls are queued,
 * and the queues are bounded (ERR_BUSY). An evaluation has a handle; a call may wait for it for a
 * while and then gets its state.
 *
 * Candidates reach the machine only through the gate. Paths that a client gives are resolved
 * without links and must lie within the roots.
 */
#ifndef KOPE_MCP_SERVICE_H
#define KOPE_MCP_SERVICE_H

#include "base/err.h"
#include "mcp/server.h"

#include <stdbool.h>
#include <stddef.h>

struct service; /* opaque */

struct service_opts {
    const char *memory_dir;   /* NULL: the default */
    const char *const *roots; /* folders that paths of clients must lie in; none: the current one */
    size_t root_count;
};

/* Starts the threads. */
bool service_open(const struct service_opts *opts, struct service **out, struct err *err);

const struct mcp_catalogue *service_catalogue(const struct service *service);

/* Answers calls that have waited long enough; to be called a few times a second. */
void service_tick(struct service *service);

/* No message comes any more. Calls that are queued end without an answer; the candidate that is
 * being judged is finished (it is paid for), unless a signal comes. Runs that were not finished end
 * as "interrupted". No call is open afterwards. */
void service_stop(struct service *service);

/* Stops it, where it was not, and frees it. */
void service_close(struct service **service);

#endif

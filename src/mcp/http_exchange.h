/*
 * One POST as a sink: what the server sends is queued here, by any thread, and taken by the
 * connection's thread. Counted: the connection and each open call hold it.
 */
#ifndef KOPE_MCP_HTTP_EXCHANGE_H
#define KOPE_MCP_HTTP_EXCHANGE_H

#include "base/buf.h"
#include "mcp/server.h"

#include <pthread.h>

struct exchange {
    struct mcp_sink sink; /* first */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int references;
    struct buf stream;      /* messages as server-sent events, not yet taken */
    struct buf answer;      /* the last message as JSON */
    int status;             /* of the answer; 0 before it */
    bool has_notifications; /* so that it must be a stream */
    bool is_over;           /* nothing more will come */
};

struct exchange *exchange_new(void);
void exchange_release(struct exchange *exchange);

enum exchange_state { EXCHANGE_WAITING, EXCHANGE_STREAMING, EXCHANGE_OVER };

/* Waits at most `wait_ms` for the first message. */
enum exchange_state exchange_wait(struct exchange *exchange, int wait_ms);
/* Takes up to `room` bytes of the stream; waits at most `wait_ms` for some. `*is_over`: none are
 * left and none will come. */
size_t exchange_take(struct exchange *exchange, char *out, size_t room, int wait_ms, bool *is_over);

#endif

/*
 * One POST over libcurl that ends at once at a deadline or an interruption. The body is handed over
 * as it comes. Redirects are not followed, TLS is verified, a proxy is never asked for loopback.
 */
#ifndef KOPE_LLM_HTTP_H
#define KOPE_LLM_HTTP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http; /* libcurl, made ready; opaque. Each request has a connection of its own */

struct http *http_open(void);
void http_close(struct http **http);

struct http_request {
    const char *url;
    const char *body;           /* JSON */
    const char *secret;         /* NULL: none */
    const char *secret_header;  /* what stands before it: "Authorization: Bearer " */
    const char *const *headers; /* more of them, NULL-terminated; NULL: none */
    bool is_loopback;
    int64_t deadline_ns; /* on os_now_ns's clock */
    /* A piece of the body; false ends the transfer. */
    bool (*on_data)(void *context, long status, const char *data, size_t length);
    void *context;
    const bool *is_complete; /* once true, the transfer has a moment left to end by itself */
};

enum http_end {
    HTTP_COMPLETE,    /* the peer sent all that it announced */
    HTTP_STOPPED,     /* by on_data or is_complete */
    HTTP_BROKEN,      /* could not connect, or it broke off: another try may help */
    HTTP_REFUSED,     /* it will never work: TLS, a protocol, a name */
    HTTP_DEADLINE,    /* no time left */
    HTTP_INTERRUPTED, /* os_interrupted() */
};

struct http_result {
    enum http_end end;
    long status;            /* 0 where there was none */
    int64_t retry_after_ns; /* what the peer asks to wait; -1: nothing */
    int should_retry;       /* x-should-retry: 1, 0, or -1 where it does not say */
    char problem[256];      /* BROKEN and REFUSED: in words */
};

void http_post(struct http *http, const struct http_request *request, struct http_result *out);

#endif

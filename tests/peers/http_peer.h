/*
 * A scripted HTTP server on loopback, for tests: answers request n with step n of its script (the
 * last step stays), one connection after the other, and keeps what it was asked.
 *
 *     struct http_peer peer = {.steps = steps, .step_count = 2};
 *     http_peer_start(&peer);
 *     ... http_peer_url(&peer) ...
 *     http_peer_stop(&peer);
 *
 * Static functions in a header, since a unit test links to one module only. Threads: `requests` and
 * `request_count` may be read after the exchange that they belong to.
 */
#ifndef KOPE_TESTS_HTTP_PEER_H
#define KOPE_TESTS_HTTP_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HTTP_PEER_MAX_REQUESTS = 256, HTTP_PEER_REQUEST_BYTES = 256 * 1024 };

struct http_peer_step {
    const char *status;       /* "200 OK" (NULL) */
    const char *headers;      /* more lines, each with CRLF; NULL */
    const char *body;         /* NULL: none */
    size_t body_bytes;        /* of a body with NUL bytes; 0: it is a string */
    size_t repeat;            /* the body is sent that many times; 0: once */
    size_t extra_declared;    /* Content-Length says so many bytes more than are sent: a cut */
    int drip_ms;              /* wait between bytes of the body */
    bool hold_open;           /* say nothing more, and do not close, until the peer is stopped */
    bool drop;                /* close without an answer */
    bool (*on_request)(void); /* called before the answer; NULL. Its result is ignored */
};

struct http_peer {
    const struct http_peer_step *steps;
    size_t step_count;

    int port, listen_fd;
    pthread_t thread;
    atomic_bool is_stopping;
    atomic_size_t request_count;
    char *requests[HTTP_PEER_MAX_REQUESTS]; /* head and body as they came */
    char url[64];
};

static inline bool http_peer_fail(const char *what)
{
    perror(what);
    abort();
}

static inline void http_peer_wait_ms(int ms)
{
    const struct timespec wait = {ms / 1000, (long)(ms % 1000) * 1000000L};
    (void)nanosleep(&wait, NULL);
}

/* Ready to read, or false where the peer is being stopped. */
static inline bool http_peer_readable(struct http_peer *peer, int fd)
{
    while (!atomic_load(&peer->is_stopping)) {
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        if (poll(&wanted, 1, 10) > 0)
            return true;
    }
    return false;
}

static inline bool http_peer_send(int fd, const char *data, size_t length)
{
    while (length > 0) {
        const ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data += sent;
        length -= (size_t)sent;
    }
    return true;
}

static inline size_t http_peer_content_length(const char *head)
{
    for (const char *line = head; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncasecmp(line, "content-length:", 15) == 0)
            return (size_t)strtoul(line + 15, NULL, 10);
    }
    return 0;
}

/* One whole request, NUL-terminated; NULL where the client went away. */
static inline char *http_peer_read(struct http_peer *peer, int fd)
{
    char *text = calloc(1, HTTP_PEER_REQUEST_BYTES + 1);
    size_t used = 0;
    if (!text)
        abort();
    while (used < HTTP_PEER_REQUEST_BYTES && http_peer_readable(peer, fd)) {
        const ssize_t got = recv(fd, text + used, HTTP_PEER_REQUEST_BYTES - used, 0);
        if (got <= 0)
            break;
        used += (size_t)got;
        const char *end = strstr(text, "\r\n\r\n");
        if (end && used >= (size_t)(end + 4 - text) + http_peer_content_length(text))
            return text;
    }
    free(text);
    return NULL;
}

static inline size_t http_peer_body_bytes(const struct http_peer_step *step)
{
    return step->body_bytes ? step->body_bytes : step->body ? strlen(step->body) : 0;
}

static inline void http_peer_send_body(struct http_peer *peer, int fd,
                                       const struct http_peer_step *step)
{
    const char *body = step->body ? step->body : "";
    const size_t length = http_peer_body_bytes(step);
    const size_t times = step->repeat ? step->repeat : 1;
    for (size_t n = 0; n < times && !atomic_load(&peer->is_stopping); n++) {
        if (step->drip_ms == 0 && !http_peer_send(fd, body, length))
            return;
        for (size_t i = 0; step->drip_ms != 0 && i < length; i++) {
            if (atomic_load(&peer->is_stopping) || !http_peer_send(fd, body + i, 1))
                return;
            http_peer_wait_ms(step->drip_ms);
        }
    }
}

static inline void http_peer_answer(struct http_peer *peer, int fd,
                                    const struct http_peer_step *step)
{
    char head[1024];
    char length[64] = "";
    if (step->on_request)
        (void)step->on_request();
    if (step->drop)
        return;
    if (step->extra_declared != 0)
        (void)snprintf(length, sizeof length, "Content-Length: %zu\r\n",
                       http_peer_body_bytes(step) + step->extra_declared);
    (void)snprintf(head, sizeof head, "HTTP/1.1 %s\r\nConnection: close\r\n%s%s\r\n",
                   step->status ? step->status : "200 OK", length,
                   step->headers ? step->headers : "");
    if (!http_peer_send(fd, head, strlen(head)))
        return;
    http_peer_send_body(peer, fd, step);
    while (step->hold_open && !atomic_load(&peer->is_stopping))
        http_peer_wait_ms(5);
}

static inline void *http_peer_serve(void *context)
{
    struct http_peer *peer = context;
    while (http_peer_readable(peer, peer->listen_fd)) {
        const int fd = accept(peer->listen_fd, NULL, NULL);
        if (fd < 0)
            continue;
        char *request = http_peer_read(peer, fd);
        const size_t n = atomic_load(&peer->request_count);
        if (request && n < HTTP_PEER_MAX_REQUESTS) {
            peer->requests[n] = request;
            atomic_store(&peer->request_count, n + 1);
            http_peer_answer(peer, fd,
                             &peer->steps[n < peer->step_count ? n : peer->step_count - 1]);
        } else {
            free(request);
        }
        (void)shutdown(fd, SHUT_WR);
        (void)close(fd);
    }
    return NULL;
}

static inline void http_peer_start(struct http_peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    if (peer->listen_fd < 0 || bind(peer->listen_fd, (struct sockaddr *)&address, length) != 0 ||
        listen(peer->listen_fd, 8) != 0 ||
        getsockname(peer->listen_fd, (struct sockaddr *)&address, &length) != 0)
        (void)http_peer_fail("http_peer");
    peer->port = ntohs(address.sin_port);
    (void)snprintf(peer->url, sizeof peer->url, "http://127.0.0.1:%d/v1", peer->port);
    if (pthread_create(&peer->thread, NULL, http_peer_serve, peer) != 0)
        (void)http_peer_fail("http_peer: thread");
}

static inline void http_peer_stop(struct http_peer *peer)
{
    atomic_store(&peer->is_stopping, true);
    (void)pthread_join(peer->thread, NULL);
    (void)close(peer->listen_fd);
    for (size_t i = 0; i < HTTP_PEER_MAX_REQUESTS; i++)
        free(peer->requests[i]);
}

#endif

#include "mcp/transport.h"

#include "base/buf.h"
#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 16 * 1024, PIPE_BUF_BYTES = 4096, TICK_MS = 100, WRITE_LIMIT_MS = 10000 };

struct stdio {
    struct mcp_sink sink; /* first */
    struct mcp_server *server;
    struct mcp_session session;
    pthread_mutex_t lock; /* of the output */
    bool is_gone;         /* nobody reads */
    struct buf line;
    bool is_skipping; /* the rest of a line that was too long */
};

static void tick(const struct mcp_host *host)
{
    if (host->tick)
        host->tick(host->context);
}

/* A client that does not read for long is gone; the server must not wait for it for ever. */
static bool write_all(const char *data, size_t length)
{
    while (length > 0) {
        struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
        const int ready = poll(&out, 1, WRITE_LIMIT_MS);
        if (ready < 0 && errno == EINTR && !os_signalled())
            continue;
        if (ready <= 0 || (out.revents & (POLLERR | POLLNVAL)))
            return false;
        /* A pipe that polls as writable takes at least this without blocking. */
        const size_t part = length < PIPE_BUF_BYTES ? length : PIPE_BUF_BYTES;
        const ssize_t written = write(STDOUT_FILENO, data, part);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (written > 0) {
            data += written;
            length -= (size_t)written;
        }
    }
    return true;
}

static void send_line(struct mcp_sink *sink, const char *text, size_t length, int status)
{
    struct stdio *s = (struct stdio *)sink;
    (void)status;
    if (!text)
        return;
    if (pthread_mutex_lock(&s->lock) != 0)
        BUG("mcp: a lock fails");
    if (!s->is_gone)
        s->is_gone = !write_all(text, length) || !write_all("\n", 1);
    if (pthread_mutex_unlock(&s->lock) != 0)
        BUG("mcp: a lock fails");
}

/* It outlives every call. */
static void keep(struct mcp_sink *sink)
{
    (void)sink;
}

static void end_line(struct stdio *s)
{
    size_t length = s->line.length;
    if (length > 0 && s->line.data[length - 1] == '\r')
        length--;
    if (s->is_skipping)
        mcp_refuse_long_message(&s->sink);
    else if (length > 0)
        (void)mcp_receive(s->server, &s->session, &s->sink, NULL, s->line.data, length);
    s->is_skipping = false;
    buf_clear(&s->line);
}

static void take(struct stdio *s, const char *data, size_t length)
{
    while (length > 0) {
        const char *end = memchr(data, '\n', length);
        const size_t part = end ? (size_t)(end - data) : length;
        if (s->line.length + part > MCP_MAX_MESSAGE_BYTES)
            s->is_skipping = true;
        if (!s->is_skipping)
            (void)buf_append(&s->line, data, part);
        if (end)
            end_line(s);
        const size_t used = part + (end != NULL);
        data += used;
        length -= used;
    }
}

/* Is somebody still reading what we write? */
static bool is_read(const struct stdio *s)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return !s->is_gone && (poll(&out, 1, 0) <= 0 || !(out.revents & (POLLERR | POLLNVAL)));
}

static bool read_some(struct stdio *s, char *chunk, bool *is_over, struct err *err)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&in, 1, TICK_MS) <= 0)
        return true;
    const ssize_t got = read(STDIN_FILENO, chunk, CHUNK_BYTES);
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return err_set_errno(err, errno, "cannot read standard input");
    *is_over = got == 0;
    if (got > 0)
        take(s, chunk, (size_t)got);
    return true;
}

bool mcp_serve_stdio(struct mcp_server *server, const struct mcp_host *host, struct err *err)
{
    struct stdio s = {.sink = {.send = send_line, .retain = keep, .release = keep},
                      .server = server};
    char chunk[CHUNK_BYTES];
    bool is_over = false;
    bool ok = true;
    s.session.scope = &s;
    if (pthread_mutex_init(&s.lock, NULL) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        BUG("mcp: cannot set up");
    while (ok && !is_over && !os_signalled() && !s.is_gone) {
        ok = read_some(&s, chunk, &is_over, err);
        tick(host);
    }
    if (is_over && (s.line.length > 0 || s.is_skipping))
        end_line(&s);
    while (ok && mcp_open_calls(server) > 0 && !os_signalled() && is_read(&s)) {
        tick(host);
        os_sleep_ns(INT64_C(20000000));
    }
    if (host->stop)
        host->stop(host->context);
    (void)pthread_mutex_destroy(&s.lock);
    buf_free(&s.line);
    return ok;
}

#include "mcp/http_exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void lock(struct exchange *e)
{
    if (pthread_mutex_lock(&e->lock) != 0)
        BUG("mcp: a lock fails");
}

static void unlock(struct exchange *e)
{
    if (pthread_mutex_unlock(&e->lock) != 0)
        BUG("mcp: a lock fails");
}

static void send_message(struct mcp_sink *sink, const char *text, size_t length, int status)
{
    struct exchange *e = (struct exchange *)sink;
    lock(e);
    if (text) {
        (void)buf_append_str(&e->stream, "event: message\ndata: ");
        (void)buf_append(&e->stream, text, length);
        (void)buf_append_str(&e->stream, "\n\n");
    }
    if (text && !status)
        e->has_notifications = true;
    if (text && status)
        (void)buf_append(&e->answer, text, length);
    if (status)
        e->status = status;
    if (status || !text)
        e->is_over = true;
    (void)pthread_cond_broadcast(&e->changed);
    unlock(e);
}

static void retain(struct mcp_sink *sink)
{
    struct exchange *e = (struct exchange *)sink;
    lock(e);
    e->references++;
    unlock(e);
}

static void release(struct mcp_sink *sink)
{
    exchange_release((struct exchange *)sink);
}

struct exchange *exchange_new(void)
{
    struct exchange *e = calloc(1, sizeof *e);
    if (!e || pthread_mutex_init(&e->lock, NULL) != 0 || pthread_cond_init(&e->changed, NULL) != 0)
        BUG("mcp: out of memory");
    e->sink = (struct mcp_sink){.send = send_message, .retain = retain, .release = release};
    e->references = 1;
    return e;
}

void exchange_release(struct exchange *e)
{
    lock(e);
    const bool is_last = --e->references == 0;
    unlock(e);
    if (!is_last)
        return;
    (void)pthread_mutex_destroy(&e->lock);
    (void)pthread_cond_destroy(&e->changed);
    buf_free(&e->stream);
    buf_free(&e->answer);
    free(e);
}

/* Until something is there or the time is over; the lock is held. */
static void wait_changed(struct exchange *e, int wait_ms)
{
    struct timespec until;
    if (clock_gettime(CLOCK_REALTIME, &until) != 0)
        return;
    until.tv_nsec += (long)wait_ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (e->stream.length == 0 && !e->is_over) {
        if (pthread_cond_timedwait(&e->changed, &e->lock, &until) == ETIMEDOUT)
            return;
    }
}

enum exchange_state exchange_wait(struct exchange *e, int wait_ms)
{
    lock(e);
    wait_changed(e, wait_ms);
    const enum exchange_state state = e->has_notifications ? EXCHANGE_STREAMING
                                      : e->is_over         ? EXCHANGE_OVER
                                                           : EXCHANGE_WAITING;
    unlock(e);
    return state;
}

size_t exchange_take(struct exchange *e, char *out, size_t room, int wait_ms, bool *is_over)
{
    lock(e);
    wait_changed(e, wait_ms);
    const size_t part = e->stream.length < room ? e->stream.length : room;
    if (part > 0) {
        memcpy(out, e->stream.data, part);
        memmove(e->stream.data, e->stream.data + part, e->stream.length - part);
        e->stream.length -= part;
    }
    *is_over = e->is_over && e->stream.length == 0 && part == 0;
    unlock(e);
    return part;
}

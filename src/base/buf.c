#include "base/buf.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes, or as many as the cap leaves; returns that number. */
static size_t reserve(struct buf *buf, size_t more)
{
    const size_t limit = buf->limit ? buf->limit : BUF_DEFAULT_LIMIT_BYTES;
    const size_t left = limit > buf->length ? limit - buf->length : 0;
    if (more > left) {
        more = left;
        buf->truncated = true;
    }
    if (buf->length + more + 1 > buf->capacity) {
        size_t capacity = buf->capacity ? buf->capacity : 256;
        while (capacity < buf->length + more + 1)
            capacity *= 2;
        char *data = realloc(buf->data, capacity);
        if (!data)
            BUG("buf: out of memory for %zu bytes", capacity);
        buf->data = data;
        buf->capacity = capacity;
    }
    return more;
}

bool buf_append(struct buf *buf, const void *data, size_t length)
{
    const size_t room = reserve(buf, length);
    if (room != 0)
        memcpy(buf->data + buf->length, data, room);
    buf->length += room;
    buf->data[buf->length] = '\0';
    return room == length;
}

bool buf_append_str(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

bool buf_append_char(struct buf *buf, char c)
{
    return buf_append(buf, &c, 1);
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        BUG("buf: bad format '%s'", format);
    const size_t room = reserve(buf, (size_t)length);
    (void)vsnprintf(buf->data + buf->length, room + 1, format, again);
    va_end(again);
    buf->length += room;
    return room == (size_t)length;
}

const char *buf_text(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}

void buf_clear(struct buf *buf)
{
    buf->length = 0;
    buf->truncated = false;
    if (buf->data)
        buf->data[0] = '\0';
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.limit = buf->limit};
}

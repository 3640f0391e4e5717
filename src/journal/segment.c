#include "journal/internal.h"

#include "base/str.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 * 1024 };

bool segment_reader_open(struct segment_reader *reader, const char *path, int64_t offset,
                         struct err *err)
{
    /* Not to hang on a pipe that somebody named like a segment. */
    CLEANUP(os_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;
    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "there is no segment '%s'", path);
    if (fd < 0 || fstat(fd, &info) != 0)
        return err_set_errno(err, errno, "cannot open the segment '%s'", path);
    if (!S_ISREG(info.st_mode))
        return err_set(err, ERR_CORRUPT, "the segment '%s' is no regular file", path);
    if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
        return err_set_errno(err, errno, "cannot read the segment '%s'", path);
    const size_t capacity = (size_t)2 * CHUNK_BYTES;
    char *data = malloc(capacity);
    if (!data)
        BUG("journal: out of memory for %zu bytes", capacity);
    *reader = (struct segment_reader){.is_open = true,
                                      .fd = io_take_fd(&fd),
                                      .data = data,
                                      .capacity = capacity,
                                      .offset = offset};
    return true;
}

/* More bytes at the end of the buffer; 0 at the end of the file, -1 with errno. */
static ssize_t fill(struct segment_reader *reader)
{
    if (reader->start != 0 && reader->end != reader->start)
        memmove(reader->data, reader->data + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    if (reader->capacity - reader->end < CHUNK_BYTES) {
        reader->capacity *= 2;
        char *grown = realloc(reader->data, reader->capacity);
        if (!grown)
            BUG("journal: out of memory for %zu bytes", reader->capacity);
        reader->data = grown;
    }
    for (;;) {
        const ssize_t got = read(reader->fd, reader->data + reader->end, CHUNK_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0)
            reader->end += (size_t)got;
        return got;
    }
}

static void consume(struct segment_reader *reader, size_t bytes)
{
    reader->start += bytes;
    reader->offset += (int64_t)bytes;
}

/* Goes on past the newline of a line that is longer than any record. */
static enum line_state skip_long(struct segment_reader *reader, struct segment_line *out)
{
    for (;;) {
        const size_t left = reader->end - reader->start;
        const char *newline = left != 0 ? memchr(reader->data + reader->start, '\n', left) : NULL;
        const size_t bytes = newline ? (size_t)(newline - (reader->data + reader->start)) : left;
        out->length += bytes;
        consume(reader, bytes + (newline ? 1 : 0));
        if (newline)
            return LINE_TOO_LONG;
        const ssize_t got = fill(reader);
        if (got <= 0)
            return got < 0 ? LINE_FAILED : LINE_TORN;
    }
}

enum line_state segment_reader_next(struct segment_reader *reader, struct segment_line *out)
{
    size_t searched = 0;
    *out = (struct segment_line){.text = "", .offset = reader->offset};
    for (;;) {
        const size_t left = reader->end - reader->start;
        const char *text = reader->data + reader->start;
        const char *newline =
            left > searched ? memchr(text + searched, '\n', left - searched) : NULL;
        if (newline) {
            out->text = text;
            out->length = (size_t)(newline - text);
            consume(reader, out->length + 1);
            return out->length > RECORD_MAX_LINE_BYTES ? LINE_TOO_LONG : LINE_WHOLE;
        }
        if (left > RECORD_MAX_LINE_BYTES)
            return skip_long(reader, out);
        searched = left;
        const ssize_t got = fill(reader);
        if (got < 0)
            return LINE_FAILED;
        if (got == 0) {
            out->length = left;
            return left == 0 ? LINE_END : LINE_TORN;
        }
    }
}

void segment_reader_close(struct segment_reader *reader)
{
    if (!reader->is_open)
        return;
    os_close(&reader->fd);
    free(reader->data);
    *reader = (struct segment_reader){0};
}

bool segment_list(const char *journal_dir, struct arena *arena, char ***out, size_t *out_count,
                  struct err *err)
{
    char **names = NULL;
    size_t count = 0;
    if (!os_list_dir(journal_dir, arena, &names, &count, err))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        if (str_ends_with(names[i], ".kj") && record_is_name(names[i], length - 3))
            names[kept++] = names[i];
    }
    *out = names;
    *out_count = kept;
    return true;
}

/*
 * Appending, with group commit: a thread writes its record under the lock, then waits until a sync
 * has covered it. The first that finds no sync going on syncs for everybody who has written so far;
 * those who write meanwhile are served by the next one, which one of them is woken to begin. The
 * two groups wait apart, so that a sync wakes those whom it has served and not the others.
 *
 * After a sync that failed, Linux may have dropped the pages: the segment is retired, all who wait
 * for it fail, and the next append makes a fresh one. A record that was written in part is cut off
 * again; where even that fails, the segment is retired with a torn end.
 */
#include "journal/internal.h"

#include "os/file.h"
#include "os/os.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

void segment_retire(struct journal *journal, struct segment *segment)
{
    segment->retired = true;
    if (journal->segment == segment)
        journal->segment = NULL;
}

void segment_release(struct segment *segment)
{
    if (!segment->retired || segment->users != 0)
        return;
    os_close(&segment->fd);
    free(segment);
}

/* The lock is the sign that the writer lives; who opens the memory may hold it for a moment. */
static bool lock_segment(int fd)
{
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return false;
    }
    return true;
}

/* NULL where it cannot be made. */
static struct segment *make_segment(struct journal *journal, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct journal_io *io = journal->io;
    char writer[RECORD_NAME_BYTES];
    (void)snprintf(writer, sizeof writer, "%016" PRIx64, os_random_u64());
    const char *path = arena_printf(&scratch, "%s/%s.kj", journal->journal_dir, writer);
    CLEANUP(os_close)
    int fd = io->open(io->context, path,
                      O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        (void)err_set_errno(err, errno, "cannot create the segment '%s'", path);
        return NULL;
    }
    if (!lock_segment(fd) || !io_sync_dir(io, journal->journal_dir)) {
        (void)err_set_errno(err, errno, "cannot make the segment '%s' durable", path);
        (void)io->unlink(io->context, path);
        return NULL;
    }
    struct segment *segment = calloc(1, sizeof *segment);
    if (!segment)
        BUG("journal: out of memory");
    segment->fd = io_take_fd(&fd);
    memcpy(segment->writer, writer, sizeof writer);
    return segment;
}

/* Later than every event of this process, and of all that it has read. */
static void tick(struct journal_clock *clock)
{
    const int64_t now_ms = os_wall_ns() / 1000000;
    if (now_ms > clock->wall_ms)
        *clock = (struct journal_clock){.wall_ms = now_ms};
    else
        clock->counter++;
}

/* Whole lines; all of them or none. */
static bool write_lines(struct journal *journal, struct segment *segment, const struct buf *lines,
                        struct err *err)
{
    const struct journal_io *io = journal->io;
    if (!io_write_all(io, segment->fd, lines->data, lines->length)) {
        (void)err_set_errno(err, errno, "cannot append to the journal '%s'", journal->journal_dir);
        if (io->truncate(io->context, segment->fd, (off_t)segment->bytes) != 0)
            segment_retire(journal, segment);
        return false;
    }
    segment->bytes += (int64_t)lines->length;
    segment->written++;
    return true;
}

/* An event to be written, or lines that are records already. */
struct writing {
    const char *kind;
    const struct buf *body;
    struct hash_id *out_id;
    const struct buf *lines;
};

static bool write_record(struct journal *journal, struct segment *segment,
                         const struct writing *what, struct err *err)
{
    if (what->lines)
        return write_lines(journal, segment, what->lines, err);
    tick(&journal->clock);
    buf_clear(&journal->line);
    if (!record_write(what->kind, journal->clock, segment->writer, what->body, &journal->line,
                      what->out_id))
        return err_set(err, ERR_LIMIT, "an event '%s' of %zu bytes is larger than %d", what->kind,
                       what->body->length, JOURNAL_MAX_EVENT_BYTES);
    return write_lines(journal, segment, &journal->line, err);
}

/* Syncs for all who have written; the lock is free meanwhile. */
static void sync_segment(struct journal *journal, struct segment *segment)
{
    const int64_t target = segment->written;
    pthread_cond_t *const served = &journal->changed[segment->syncs & 1];
    pthread_cond_t *const next = &journal->changed[++segment->syncs & 1];
    segment->syncing = true;
    (void)pthread_mutex_unlock(&journal->lock);
    int failed = 0;
    if (journal->io->sync(journal->io->context, segment->fd) != 0)
        failed = errno != 0 ? errno : EIO;
    (void)pthread_mutex_lock(&journal->lock);
    segment->syncing = false;
    journal->sync_count++;
    if (failed != 0) {
        segment->failed = failed;
        segment_retire(journal, segment);
        (void)pthread_cond_broadcast(next);
    } else {
        segment->synced = target;
        if (segment->written > target)
            (void)pthread_cond_signal(next);
    }
    (void)pthread_cond_broadcast(served);
}

static bool wait_synced(struct journal *journal, struct segment *segment, int64_t ticket,
                        struct err *err)
{
    pthread_cond_t *const changed = &journal->changed[segment->syncs & 1];
    while (segment->synced < ticket && segment->failed == 0) {
        if (segment->syncing)
            (void)pthread_cond_wait(changed, &journal->lock);
        else
            sync_segment(journal, segment);
    }
    if (segment->synced >= ticket)
        return true;
    (void)err_set_errno(err, segment->failed, "cannot sync the journal '%s'", journal->journal_dir);
    return err_hint(err, "check the disk; the event may be lost");
}

/* With the lock held. */
static bool append_locked(struct journal *journal, const struct writing *what, struct err *err)
{
    struct segment *segment = journal->segment ? journal->segment : make_segment(journal, err);
    if (!segment)
        return false;
    journal->segment = segment;
    segment->users++;
    const bool ok = write_record(journal, segment, what, err) &&
                    wait_synced(journal, segment, segment->written, err);
    segment->users--;
    segment_release(segment);
    return ok;
}

static bool check_body(const char *kind, const struct buf *body, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(buf_free) struct buf nested = {0};
    const struct json *value = NULL;
    if (body->truncated || body->length > JOURNAL_MAX_EVENT_BYTES)
        return err_set(err, ERR_LIMIT, "an event '%s' is larger than %d bytes", kind,
                       JOURNAL_MAX_EVENT_BYTES);
    if (body->length < 2 || body->data[0] != '{' || body->data[body->length - 1] != '}' ||
        memchr(body->data, '\n', body->length))
        return err_set(err, ERR_BAD_INPUT, "the body of an event '%s' is no object on one line",
                       kind);
    /* As deep as it will stand in the record, so that a reader finds it within its cap. */
    (void)buf_append_char(&nested, '[');
    (void)buf_append(&nested, body->data, body->length);
    (void)buf_append_char(&nested, ']');
    if (!json_parse(nested.data, nested.length, kind, &scratch, &value, err))
        return err_within(err, "the body of an event");
    if (value->count != 1 || value->first->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_INPUT, "the body of an event '%s' is no object", kind);
    return true;
}

bool journal_append(struct journal *journal, const char *kind, const struct buf *body,
                    struct hash_id *out_id, struct err *err)
{
    if (!journal->is_writable)
        return err_set(err, ERR_UNSUPPORTED, "the memory '%s' is open to read only",
                       journal->memory_dir);
    if (!record_is_name(kind, strlen(kind)))
        return err_set(err, ERR_BAD_INPUT, "'%s' is no kind of event", kind);
    if (!check_body(kind, body, err))
        return false;
    struct hash_id id;
    (void)pthread_mutex_lock(&journal->lock);
    const bool ok =
        append_locked(journal, &(struct writing){.kind = kind, .body = body, .out_id = &id}, err);
    (void)pthread_mutex_unlock(&journal->lock);
    if (ok && out_id)
        *out_id = id;
    return ok;
}

bool journal_append_lines(struct journal *journal, const struct buf *lines, struct err *err)
{
    (void)pthread_mutex_lock(&journal->lock);
    const bool ok = append_locked(journal, &(struct writing){.lines = lines}, err);
    (void)pthread_mutex_unlock(&journal->lock);
    return ok;
}

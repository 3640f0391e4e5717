/*
 * Appending, with group commit: threads put their records into the segment's open batch, in the
 * order of their clock, and wait. Whoever began a batch writes it, with one write and one sync for
 * all of it, as soon as the batch before is written; meanwhile it grows. Those who wait sleep on a
 * flag of the batch, so that a wake-up needs no lock.
 *
 * After a sync that failed, Linux may have dropped the pages: the segment is retired, the batches
 * that wait for it fail, and the next append makes a fresh one. A batch that was written in part is
 * cut off again; where even that fails, the segment is retired with a torn end.
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

/* A batch of so many bytes takes no more records. */
enum { BATCH_BYTES = 8 * 1024 * 1024 };

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

/* An event to be written, or lines that are records already. */
struct writing {
    const char *kind;
    const struct buf *body;
    struct hash_id *out_id;
    const struct buf *lines;
};

static bool put_record(struct journal *journal, const struct segment *segment,
                       const struct writing *what, struct buf *out, struct err *err)
{
    if (what->lines)
        return buf_append(out, what->lines->data, what->lines->length);
    tick(&journal->clock);
    return record_write(what->kind, journal->clock, segment->writer, what->body, out,
                        what->out_id) ||
           err_set(err, ERR_LIMIT, "an event '%s' of %zu bytes is larger than %d", what->kind,
                   what->body->length, JOURNAL_MAX_EVENT_BYTES);
}

/* What the disk made of a batch; called without the lock, by one thread at a time. */
static void write_and_sync(const struct journal *journal, const struct segment *segment,
                           struct batch *batch, bool *is_torn)
{
    const struct journal_io *io = journal->io;
    if (!io_write_all(io, segment->fd, batch->lines.data, batch->lines.length)) {
        batch->failed = errno != 0 ? errno : EIO;
        *is_torn = io->truncate(io->context, segment->fd, (off_t)segment->bytes) != 0;
    } else if (io->sync(io->context, segment->fd) != 0) {
        batch->failed = errno != 0 ? errno : EIO;
        batch->is_unsynced = true;
    }
}

/* With the lock held, which is free meanwhile: closes the batch after the one before is written,
 * and writes it. */
static void commit(struct journal *journal, struct segment *segment, struct batch *batch)
{
    bool is_torn = false;
    while (segment->is_committing)
        (void)pthread_cond_wait(&journal->committed, &journal->lock);
    segment->open = NULL;
    if (segment->retired) {
        batch->failed = segment->failed != 0 ? segment->failed : EIO;
        return;
    }
    segment->is_committing = true;
    (void)pthread_mutex_unlock(&journal->lock);
    write_and_sync(journal, segment, batch, &is_torn);
    (void)pthread_mutex_lock(&journal->lock);
    segment->is_committing = false;
    journal->sync_count++;
    if (batch->failed == 0)
        segment->bytes += (int64_t)batch->lines.length;
    if (batch->is_unsynced || is_torn) {
        segment->failed = batch->failed;
        segment_retire(journal, segment);
    }
    (void)pthread_cond_broadcast(&journal->committed);
}

/* The segment of the next record, with room in its open batch if it has one. */
static struct segment *find_segment(struct journal *journal, struct err *err)
{
    for (;;) {
        if (!journal->segment)
            return journal->segment = make_segment(journal, err);
        struct segment *segment = journal->segment;
        if (!segment->open || segment->open->lines.length < BATCH_BYTES)
            return segment;
        (void)pthread_cond_wait(&journal->committed, &journal->lock);
    }
}

static bool said_of(const struct batch *batch, const struct journal *journal, struct err *err)
{
    if (batch->failed == 0)
        return true;
    if (!batch->is_unsynced)
        return err_set_errno(err, batch->failed, "cannot append to the journal '%s'",
                             journal->journal_dir);
    (void)err_set_errno(err, batch->failed, "cannot sync the journal '%s'", journal->journal_dir);
    return err_hint(err, "check the disk; the event may be lost");
}

static struct batch *new_batch(void)
{
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        BUG("journal: out of memory");
    batch->lines.limit = SIZE_MAX / 2; /* BATCH_BYTES and what one writing adds bound it */
    return batch;
}

static void free_batch(struct batch *batch)
{
    buf_free(&batch->lines);
    free(batch);
}

/* With the lock held: a record into the batch that is open, or into a new one (`*is_first`). NULL
 * where it could not be put there. */
static struct batch *join(struct journal *journal, const struct writing *what,
                          struct segment **segment, bool *is_first, struct err *err)
{
    if (!(*segment = find_segment(journal, err)))
        return NULL;
    *is_first = (*segment)->open == NULL;
    struct batch *batch = *is_first ? new_batch() : (*segment)->open;
    if (!put_record(journal, *segment, what, &batch->lines, err)) {
        if (*is_first)
            free_batch(batch);
        return NULL;
    }
    batch->users++;
    if (*is_first) {
        (*segment)->open = batch;
        (*segment)->users++;
    }
    return batch;
}

static bool append(struct journal *journal, const struct writing *what, struct err *err)
{
    struct segment *segment = NULL;
    bool is_first = false;
    (void)pthread_mutex_lock(&journal->lock);
    struct batch *batch = join(journal, what, &segment, &is_first, err);
    if (batch && is_first) {
        commit(journal, segment, batch);
        segment->users--;
        segment_release(segment);
    }
    (void)pthread_mutex_unlock(&journal->lock);
    if (!batch)
        return false;
    if (is_first)
        os_flag_raise(&batch->done);
    else
        os_flag_wait(&batch->done);
    const bool ok = said_of(batch, journal, err);
    if (atomic_fetch_sub(&batch->users, 1) == 1)
        free_batch(batch);
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
    if (json_is_plain_object(body->data, body->length))
        return true;
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
    const bool ok =
        append(journal, &(struct writing){.kind = kind, .body = body, .out_id = &id}, err);
    if (ok && out_id)
        *out_id = id;
    return ok;
}

bool journal_append_lines(struct journal *journal, const struct buf *lines, struct err *err)
{
    return append(journal, &(struct writing){.lines = lines}, err);
}

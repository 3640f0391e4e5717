/*
 * Compaction: the records of segments whose writer is gone are written anew into one segment,
 * without those that were pruned; then the old ones are removed. The new segment is whole and on
 * disk under its name before the first old one goes, and an event that stands in two segments
 * counts once: so a crash at any moment leaves the same set of events, and the next compaction
 * clears up. Bodies that only pruned events named go in between, since the old segments name them.
 *
 * A segment with corrupt records stays as it is: what is damaged may still be mended by hand.
 */
#include "journal/event.h"
#include "journal/internal.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { FLUSH_BYTES = 1024 * 1024 };

struct compaction {
    struct journal *journal;
    const struct index *all;
    bool *is_old; /* segments that are rewritten */
    int fd;       /* of the new segment; -1: none yet */
    char *path, *temporary;
    struct buf batch;
    struct journal_compacted done;
};

/* Held by another process? Our own lock on our own segment does not count: it is never old. */
static bool is_held(const char *path)
{
    CLEANUP(os_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0;
}

static bool is_own(const struct journal *journal, const char *name)
{
    const size_t length = journal->segment ? strlen(journal->segment->writer) : 0;
    return length != 0 && strncmp(name, journal->segment->writer, length) == 0 &&
           str_equal(name + length, ".kj");
}

static bool choose_segments(struct compaction *c, struct err *err)
{
    for (size_t i = 0; i < c->all->segment_count; i++) {
        const struct index_segment *segment = &c->all->segments[i];
        if (is_own(c->journal, segment->name))
            continue;
        if (is_held(segment->path)) {
            (void)err_set(err, ERR_BUSY, "another process writes to the memory '%s'",
                          c->journal->memory_dir);
            return err_hint(err, "wait until it has ended, then run the command again");
        }
        c->is_old[i] = segment->corrupt == 0;
    }
    return true;
}

static bool flush(struct compaction *c, struct err *err)
{
    if (!io_write_all(c->journal->io, c->fd, buf_text(&c->batch), c->batch.length))
        return err_set_errno(err, errno, "cannot write '%s'", c->temporary);
    buf_clear(&c->batch);
    return true;
}

/* Records of old segments that are kept; the others are only counted. */
static bool copy(void *context, const struct event *event, struct err *err)
{
    struct compaction *c = context;
    if (!record_write_again(event->text, event->text_length, &c->batch))
        BUG("journal: a batch of %zu bytes is too large", c->batch.length);
    return c->batch.length < FLUSH_BYTES || flush(c, err);
}

static struct index kept_of_old(struct compaction *c, struct arena *arena)
{
    struct index part = {.segments = c->all->segments, .segment_count = c->all->segment_count};
    part.entries = arena_array(arena, c->all->count, sizeof *part.entries);
    for (size_t i = 0; i < c->all->count; i++) {
        const struct index_entry *entry = &c->all->entries[i];
        if (c->is_old[entry->segment])
            part.entries[part.count++] = *entry;
    }
    return part;
}

static bool open_new(struct compaction *c, struct arena *arena, struct err *err)
{
    const struct journal_io *io = c->journal->io;
    c->path = arena_printf(arena, "%s/%016" PRIx64 ".kj", c->journal->journal_dir, os_random_u64());
    c->temporary = arena_printf(arena, "%s.tmp", c->path);
    c->fd = io->open(io->context, c->temporary,
                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    return c->fd >= 0 || err_set_errno(err, errno, "cannot create '%s'", c->temporary);
}

/* Whole, on disk, under its name. */
static bool write_new(struct compaction *c, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct journal_io *io = c->journal->io;
    const struct index part = kept_of_old(c, &scratch);
    if (!open_new(c, &scratch, err))
        return false;
    bool ok = index_deliver(&part, copy, c, err) && flush(c, err);
    if (ok &&
        (io->sync(io->context, c->fd) != 0 || io->rename(io->context, c->temporary, c->path) != 0 ||
         !io_sync_dir(io, c->journal->journal_dir)))
        ok = err_set_errno(err, errno, "cannot make '%s' durable", c->path);
    os_close(&c->fd);
    if (!ok)
        (void)io->unlink(io->context, c->temporary);
    return ok;
}

static bool remove_old(struct compaction *c, struct err *err)
{
    const struct journal_io *io = c->journal->io;
    for (size_t i = 0; i < c->all->segment_count; i++) {
        if (!c->is_old[i])
            continue;
        if (io->unlink(io->context, c->all->segments[i].path) != 0)
            return err_set_errno(err, errno, "cannot remove '%s'", c->all->segments[i].path);
        c->done.segments_removed++;
        c->done.bytes_before += c->all->segments[i].bytes;
    }
    return true;
}

/* ---- Bodies. */

struct names {
    struct hash_id *ids;
    size_t count, capacity;
};

static bool collect_names(void *context, const struct event *event, struct err *err)
{
    struct names *names = context;
    (void)err;
    for (const struct json *field = event->body ? event->body->first : NULL; field;
         field = field->next) {
        const char *id = store_named(event->kind, field);
        if (!id || strlen(id) != HASH_ID_CHARS)
            continue;
        names->ids =
            vec_reserve_one(names->ids, names->count, &names->capacity, sizeof *names->ids);
        memcpy(names->ids[names->count++].text, id, HASH_ID_BYTES);
    }
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct hash_id *)a)->text, ((const struct hash_id *)b)->text);
}

static bool names_of(const struct index *index, struct names *out, struct err *err)
{
    if (!index_deliver(index, collect_names, out, err))
        return false;
    if (out->count != 0)
        qsort(out->ids, out->count, sizeof *out->ids, compare_ids);
    return true;
}

static void remove_unnamed(struct compaction *c, const struct names *gone, const struct names *kept)
{
    for (size_t i = 0; i < gone->count; i++) {
        const struct hash_id *id = &gone->ids[i];
        if ((i != 0 && str_equal(id->text, gone->ids[i - 1].text)) ||
            (kept->count != 0 &&
             bsearch(id, kept->ids, kept->count, sizeof *kept->ids, compare_ids)))
            continue;
        const int64_t bytes = store_remove(c->journal, id->text);
        c->done.bodies_removed += bytes >= 0;
        c->done.body_bytes += bytes > 0 ? bytes : 0;
    }
}

/* Before the old segments go: they tell which bodies there are to remove. */
static bool remove_bodies(struct compaction *c, struct err *err)
{
    const struct index *all = c->all;
    const struct index hidden = {.segments = all->segments,
                                 .segment_count = all->segment_count,
                                 .entries = all->entries + all->count,
                                 .count = all->hidden};
    struct names gone = {0};
    struct names kept = {0};
    if (all->hidden == 0)
        return true;
    const bool ok = names_of(&hidden, &gone, err) && (gone.count == 0 || names_of(all, &kept, err));
    if (ok)
        remove_unnamed(c, &gone, &kept);
    free(gone.ids);
    free(kept.ids);
    return ok;
}

/* Is there anything to gain? One old segment without pruned records is what a compaction makes. */
static bool is_worth_it(const struct compaction *c)
{
    size_t old = 0;
    for (size_t i = 0; i < c->all->segment_count; i++)
        old += c->is_old[i];
    return old > 1 || (old == 1 && c->all->hidden != 0);
}

bool journal_compact(struct journal *journal, struct journal_compacted *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(index_free) struct index all = {0};
    if (!journal->is_writable)
        return err_set(err, ERR_UNSUPPORTED, "the memory '%s' is open to read only",
                       journal->memory_dir);
    if (!index_read(journal->journal_dir, NULL, 0, &all, err))
        return false;
    struct compaction c = {.journal = journal, .all = &all, .fd = -1};
    c.is_old = arena_array(&scratch, all.segment_count, sizeof *c.is_old);
    bool ok = choose_segments(&c, err);
    if (ok && is_worth_it(&c)) {
        ok = write_new(&c, err);
        const int64_t size = ok ? os_file_size(c.path) : 0;
        ok = ok && remove_bodies(&c, err) && remove_old(&c, err);
        c.done.bytes_after = size;
    }
    buf_free(&c.batch);
    if (ok)
        *out = c.done;
    return ok;
}

/* ---- Pruning. */

struct pruning {
    bool (*is_pruned)(void *context, const struct event *event);
    void *context;
    struct names ids;
};

static bool choose(void *context, const struct event *event, struct err *err)
{
    struct pruning *pruning = context;
    struct names *ids = &pruning->ids;
    (void)err;
    if (str_equal(event->kind, EVENT_PRUNE) || !pruning->is_pruned(pruning->context, event))
        return true;
    ids->ids = vec_reserve_one(ids->ids, ids->count, &ids->capacity, sizeof *ids->ids);
    ids->ids[ids->count++] = event->id;
    return true;
}

static bool append_tombstones(struct journal *journal, const char *reason, const struct names *ids,
                              struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    for (size_t at = 0; at < ids->count;) {
        const size_t left = ids->count - at;
        const size_t count = left < PRUNE_MAX_IDS ? left : PRUNE_MAX_IDS;
        buf_clear(&body);
        event_write_prune(&(struct prune_event){reason, ids->ids + at, count}, &body);
        if (!journal_append(journal, EVENT_PRUNE, &body, NULL, err))
            return false;
        at += count;
    }
    return true;
}

bool journal_prune(struct journal *journal, const char *reason,
                   bool (*is_pruned)(void *context, const struct event *event), void *context,
                   int64_t *out_count, struct journal_compacted *out, struct err *err)
{
    struct pruning pruning = {.is_pruned = is_pruned, .context = context};
    const bool ok = journal_scan(journal, choose, &pruning, err) &&
                    append_tombstones(journal, reason, &pruning.ids, err) &&
                    journal_compact(journal, out, err);
    free(pruning.ids.ids);
    if (ok)
        *out_count = (int64_t)pruning.ids.count;
    return ok;
}

#include "journal/internal.h"

#include "base/str.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts the torn end of a segment where its writer is gone. `segment->torn` is 0 where it lives. */
static bool mend_segment(const struct journal_io *io, struct index_segment *segment,
                         struct err *err)
{
    CLEANUP(os_close)
    int fd = io->open(io->context, segment->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
        return true; /* somebody else's: left as it is */
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open the segment '%s'", segment->path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        segment->torn = 0; /* its writer is in the middle of it */
        return true;
    }
    /* It may have ended the record between our reading and our lock. */
    CLEANUP(segment_reader_close) struct segment_reader reader = {0};
    if (!segment_reader_open(&reader, segment->path, segment->bytes, err))
        return false;
    struct segment_line line;
    enum line_state state = segment_reader_next(&reader, &line);
    while (state == LINE_WHOLE || state == LINE_TOO_LONG)
        state = segment_reader_next(&reader, &line);
    segment->torn = state == LINE_TORN ? (int64_t)line.length : 0;
    if (state != LINE_TORN)
        return true;
    if (io->truncate(io->context, fd, (off_t)line.offset) != 0 || io->sync(io->context, fd) != 0)
        return err_set_errno(err, errno, "cannot cut the torn end of '%s'", segment->path);
    return true;
}

void index_summarize(const struct index *index, struct journal_recovery *out)
{
    *out = (struct journal_recovery){.segments = (int64_t)index->segment_count,
                                     .events = (int64_t)index->count,
                                     .corrupt_events = index->corrupt};
    memcpy(out->first_corrupt, index->first_corrupt, sizeof out->first_corrupt);
    for (size_t i = 0; i < index->segment_count; i++)
        out->torn_bytes += index->segments[i].torn;
}

/* Reads all past the checkpoint, which is emptied where it turns out not to fit. */
static bool read_new(const struct journal *journal, struct checkpoint *checkpoint,
                     struct arena *arena, struct index *out, struct err *err)
{
    checkpoint_read(journal->journal_dir, arena, checkpoint);
    struct journal_position *seen = arena_array(arena, checkpoint->count, sizeof *seen);
    for (size_t i = 0; i < checkpoint->count; i++)
        seen[i] =
            (struct journal_position){checkpoint->segments[i].name, checkpoint->segments[i].bytes};
    if (index_read(journal->journal_dir, seen, checkpoint->count, out, err))
        return true;
    if (checkpoint->count == 0 || err->kind != ERR_CORRUPT)
        return false;
    checkpoint->count = 0;
    return index_read(journal->journal_dir, NULL, 0, out, err);
}

/* Reads what is new, mends it, and sets the clock past all that is there. */
static bool recover(struct journal *journal, struct journal_recovery *recovery, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(index_free) struct index index = {0};
    struct checkpoint checkpoint = {0};
    if (!read_new(journal, &checkpoint, &scratch, &index, err))
        return false;
    for (size_t i = 0; journal->is_writable && i < index.segment_count; i++) {
        if (index.segments[i].torn != 0 && !mend_segment(journal->io, &index.segments[i], err))
            return false;
    }
    if (index.count != 0)
        journal->clock = index.entries[index.count - 1].clock;
    index_summarize(&index, recovery);
    for (size_t i = 0; i < checkpoint.count; i++) {
        recovery->events += checkpoint.segments[i].events;
        if (record_compare_clock(checkpoint.segments[i].last, journal->clock) > 0)
            journal->clock = checkpoint.segments[i].last;
    }
    if (journal->is_writable)
        checkpoint_write(journal->journal_dir, &index, &checkpoint);
    return true;
}

static bool make_folders(struct journal *journal, struct err *err)
{
    if (os_path_is_dir(journal->journal_dir) && os_path_is_dir(journal->store_dir))
        return true;
    if (!os_make_dirs(journal->journal_dir, err) || !os_make_dirs(journal->store_dir, err))
        return false;
    const char *parent = os_path_dir(&journal->arena, journal->memory_dir);
    if (!io_sync_dir(journal->io, journal->memory_dir) || !io_sync_dir(journal->io, parent))
        return err_set_errno(err, errno, "cannot make the folder '%s' durable",
                             journal->memory_dir);
    return true;
}

bool journal_open_with_io(const char *memory_dir, bool writable, const struct journal_io *io,
                          struct journal **out, struct journal_recovery *recovery, struct err *err)
{
    CLEANUP(journal_close) struct journal *journal = calloc(1, sizeof *journal);
    if (!journal || pthread_mutex_init(&journal->lock, NULL) != 0 ||
        pthread_cond_init(&journal->committed, NULL) != 0)
        BUG("journal: out of memory");
    journal->io = io;
    journal->is_writable = writable;
    journal->memory_dir = arena_strdup(&journal->arena, memory_dir);
    journal->journal_dir = os_path_join(&journal->arena, memory_dir, "journal");
    journal->store_dir = os_path_join(&journal->arena, memory_dir, "store");
    struct journal_recovery found;
    if (!make_folders(journal, err) || !recover(journal, &found, err))
        return err_within(err, "opening the memory '%s'", memory_dir);
    if (recovery)
        *recovery = found;
    *out = journal;
    journal = NULL;
    return true;
}

bool journal_open(const char *memory_dir, bool writable, struct journal **out,
                  struct journal_recovery *recovery, struct err *err)
{
    return journal_open_with_io(memory_dir, writable, &journal_io_system, out, recovery, err);
}

void journal_close(struct journal **journal)
{
    struct journal *closing = *journal;
    if (!closing)
        return;
    struct segment *segment = closing->segment;
    if (segment) {
        segment_retire(closing, segment);
        segment_release(segment);
    }
    (void)pthread_cond_destroy(&closing->committed);
    (void)pthread_mutex_destroy(&closing->lock);
    arena_free(&closing->arena);
    free(closing);
    *journal = NULL;
}

int64_t journal_size(struct journal *journal)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct err ignored;
    char **names = NULL;
    size_t count = 0;
    int64_t bytes = 0;
    if (!segment_list(journal->journal_dir, &scratch, &names, &count, &ignored))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t size = os_file_size(os_path_join(&scratch, journal->journal_dir, names[i]));
        bytes += size > 0 ? size : 0;
    }
    return bytes;
}

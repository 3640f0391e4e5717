#include "journal/internal.h"

#include "base/str.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* One file at a time: events of different writers seldom interleave, and there may be more segments
 * than a process may open. */
struct event_reader {
    const struct index *index;
    int fd;
    uint32_t segment;
};

static bool open_segment(struct event_reader *reader, uint32_t segment, struct err *err)
{
    if (reader->fd >= 0 && reader->segment == segment)
        return true;
    os_close(&reader->fd);
    const char *path = reader->index->segments[segment].path;
    reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    reader->segment = segment;
    return reader->fd >= 0 || err_set_errno(err, errno, "cannot open the segment '%s'", path);
}

static bool read_exactly(int fd, int64_t offset, char *out, size_t length)
{
    while (length != 0) {
        const ssize_t got = pread(fd, out, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        out += got;
        offset += got;
        length -= (size_t)got;
    }
    return true;
}

static bool read_event(struct event_reader *reader, const struct index_entry *entry,
                       struct arena *arena, struct event *out, struct err *err)
{
    if (!open_segment(reader, entry->segment, err))
        return false;
    char *line = arena_alloc(arena, (size_t)entry->length + 1);
    struct record record;
    char problem[RECORD_PROBLEM_BYTES];
    if (!read_exactly(reader->fd, entry->offset, line, entry->length) ||
        !record_read(line, entry->length, &record, problem))
        return err_set(err, ERR_CORRUPT, "the segment '%s' changed while it was read",
                       reader->index->segments[entry->segment].path);
    const struct json *value = NULL;
    struct err ignored;
    if (!json_parse(record.json, record.json_length, "event", arena, &value, &ignored))
        value = NULL;
    *out = (struct event){.id = record.id,
                          .kind = arena_strdup(arena, record.kind),
                          .wall_ms = record.clock.wall_ms,
                          .counter = record.clock.counter,
                          .writer = arena_strdup(arena, record.writer),
                          .body = json_get(value, "body"),
                          .text = record.json,
                          .text_length = record.json_length};
    return true;
}

bool index_deliver(const struct index *index,
                   bool (*each)(void *context, const struct event *event, struct err *err),
                   void *context, struct err *err)
{
    struct event_reader reader = {.index = index, .fd = -1};
    bool ok = true;
    for (size_t i = 0; ok && i < index->count; i++) {
        CLEANUP(arena_free) struct arena step = {0};
        struct event event;
        ok = read_event(&reader, &index->entries[i], &step, &event, err) &&
             each(context, &event, err);
    }
    os_close(&reader.fd);
    return ok;
}

void journal_follow_clock(struct journal *journal, const struct index *index)
{
    if (index->count == 0)
        return;
    const struct journal_clock last = index->entries[index->count - 1].clock;
    (void)pthread_mutex_lock(&journal->lock);
    if (record_compare_clock(last, journal->clock) > 0)
        journal->clock = last;
    (void)pthread_mutex_unlock(&journal->lock);
}

bool journal_scan_since(struct journal *journal, const struct journal_position *seen,
                        size_t seen_count,
                        bool (*each)(void *context, const struct event *event, struct err *err),
                        void *context, struct arena *arena, struct journal_position **out_reached,
                        size_t *out_count, struct err *err)
{
    CLEANUP(index_free) struct index index = {0};
    if (!index_read(journal->journal_dir, seen, seen_count, &index, err))
        return false;
    journal_follow_clock(journal, &index);
    if (!index_deliver(&index, each, context, err))
        return false;
    struct journal_position *reached = arena_array(arena, index.segment_count, sizeof *reached);
    for (size_t i = 0; i < index.segment_count; i++) {
        reached[i].segment = arena_strdup(arena, index.segments[i].name);
        reached[i].bytes = index.segments[i].bytes;
    }
    *out_reached = reached;
    *out_count = index.segment_count;
    return true;
}

bool journal_scan(struct journal *journal,
                  bool (*each)(void *context, const struct event *event, struct err *err),
                  void *context, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct journal_position *reached = NULL;
    size_t count = 0;
    return journal_scan_since(journal, NULL, 0, each, context, &scratch, &reached, &count, err);
}

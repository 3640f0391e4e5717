/*
 * The checkpoint: MEMORY/journal/checkpoint, JSON, how much of each segment was read and found
 * sound, so that opening a memory of years reads only what is new. It is a hint: what is missing,
 * unreadable or does not fit the segment is read again, and events are always taken from the
 * segments. `kope memory verify` never looks at it.
 *
 * A segment fits while it is the same file and has only grown: the same inode, and of the same
 * length only with the same time of change. One that was changed within the last two seconds is
 * left out, because a clock of coarse ticks could hide another change (git calls such an entry
 * racy). So is one with corrupt records, so that they are named each time.
 */
#include "journal/internal.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { VERSION = 1, MAX_BYTES = 64 * 1024 * 1024, WORTH_BYTES = 1024 * 1024, WORTH_SEGMENTS = 16 };
#define RACY_NS (INT64_C(2) * 1000 * 1000 * 1000)

static int64_t changed_ns(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

static bool fits(const char *path, const struct checkpoint_segment *known)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || (int64_t)info.st_ino != known->inode)
        return false;
    return (int64_t)info.st_size > known->bytes ||
           ((int64_t)info.st_size == known->bytes && changed_ns(&info) == known->changed_ns);
}

static bool read_segment(const struct json *value, struct checkpoint_segment *out)
{
    *out = (struct checkpoint_segment){
        .name = json_string(json_get(value, "name"), ""),
        .bytes = json_int(json_get(value, "bytes"), -1),
        .inode = json_int(json_get(value, "inode"), -1),
        .changed_ns = json_int(json_get(value, "changed_ns"), -1),
        .events = json_int(json_get(value, "events"), -1),
        .last = {json_int(json_get(value, "wall_ms"), -1),
                 json_int(json_get(value, "counter"), -1)},
    };
    const size_t length = strlen(out->name);
    return str_ends_with(out->name, ".kj") && record_is_name(out->name, length - 3) &&
           out->bytes >= 0 && out->events >= 0 && record_is_clock(out->last);
}

void checkpoint_read(const char *journal_dir, struct arena *arena, struct checkpoint *out)
{
    char *text = NULL;
    size_t length = 0;
    const struct json *value = NULL;
    struct err ignored;
    *out = (struct checkpoint){0};
    if (!os_read_plain_file(os_path_join(arena, journal_dir, "checkpoint"), MAX_BYTES, arena, &text,
                            &length, &ignored) ||
        !json_parse(text, length, "checkpoint", arena, &value, &ignored) ||
        json_int(json_get(value, "version"), 0) != VERSION)
        return;
    const struct json *list = json_get(value, "segments");
    out->segments = arena_array(arena, list ? list->count : 0, sizeof *out->segments);
    for (const struct json *item = list ? list->first : NULL; item; item = item->next) {
        struct checkpoint_segment *segment = &out->segments[out->count];
        if (read_segment(item, segment) &&
            fits(os_path_join(arena, journal_dir, segment->name), segment))
            out->count++;
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct checkpoint_segment *x = a;
    const struct checkpoint_segment *y = b;
    return strcmp(x->name, y->name);
}

const struct checkpoint_segment *checkpoint_find(const struct checkpoint *checkpoint,
                                                 const char *name)
{
    const struct checkpoint_segment wanted = {.name = name};
    return checkpoint->count == 0 ? NULL
                                  : bsearch(&wanted, checkpoint->segments, checkpoint->count,
                                            sizeof wanted, compare_names);
}

/* Events and last clock of each segment: those of before and those that were read now. */
static struct checkpoint_segment *sum_up(const struct index *index, const struct checkpoint *before,
                                         struct arena *arena)
{
    struct checkpoint_segment *sums = arena_array(arena, index->segment_count, sizeof *sums);
    for (size_t i = 0; i < index->segment_count; i++) {
        const struct checkpoint_segment *old = checkpoint_find(before, index->segments[i].name);
        if (old)
            sums[i] = *old;
        sums[i].name = index->segments[i].name;
        sums[i].bytes = index->segments[i].bytes;
    }
    for (size_t i = 0; i < index->count; i++) {
        struct checkpoint_segment *sum = &sums[index->entries[i].segment];
        sum->events++;
        if (record_compare_clock(index->entries[i].clock, sum->last) > 0)
            sum->last = index->entries[i].clock;
    }
    return sums;
}

static void write_segment(struct json_writer *w, const struct checkpoint_segment *segment)
{
    json_begin_object(w);
    json_put_string(w, "name", segment->name);
    json_put_int(w, "bytes", segment->bytes);
    json_put_int(w, "inode", segment->inode);
    json_put_int(w, "changed_ns", segment->changed_ns);
    json_put_int(w, "events", segment->events);
    json_put_int(w, "wall_ms", segment->last.wall_ms);
    json_put_int(w, "counter", segment->last.counter);
    json_end_object(w);
}

static bool is_worth_it(const struct index *index, const struct checkpoint *before)
{
    int64_t bytes = 0;
    size_t segments = 0;
    for (size_t i = 0; i < index->segment_count; i++) {
        bytes += index->segments[i].bytes - index->segments[i].seen;
        segments += checkpoint_find(before, index->segments[i].name) ? 0 : 1;
    }
    return bytes >= WORTH_BYTES || segments >= WORTH_SEGMENTS;
}

void checkpoint_write(const char *journal_dir, const struct index *index,
                      const struct checkpoint *before)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(buf_free) struct buf text = {0};
    struct err ignored;
    if (!is_worth_it(index, before))
        return;
    struct checkpoint_segment *sums = sum_up(index, before, &scratch);
    const int64_t now_ns = os_wall_ns();
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_int(&w, "version", VERSION);
    json_key(&w, "segments");
    json_begin_array(&w);
    for (size_t i = 0; i < index->segment_count; i++) {
        struct stat info;
        if (index->segments[i].corrupt != 0 || lstat(index->segments[i].path, &info) != 0)
            continue;
        sums[i].inode = (int64_t)info.st_ino;
        sums[i].changed_ns = changed_ns(&info);
        if (now_ns - sums[i].changed_ns >= RACY_NS && (int64_t)info.st_size >= sums[i].bytes)
            write_segment(&w, &sums[i]);
    }
    json_end_array(&w);
    json_end_object(&w);
    if (!text.truncated)
        (void)os_write_file(os_path_join(&scratch, journal_dir, "checkpoint"), text.data,
                            text.length, false, &ignored);
}

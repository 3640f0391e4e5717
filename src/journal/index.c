#include "journal/internal.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int index_compare(const struct index_entry *a, const struct index_entry *b)
{
    const int by_clock = record_compare_clock(a->clock, b->clock);
    return by_clock != 0 ? by_clock : strcmp(a->id.text, b->id.text);
}

static int compare_entries(const void *a, const void *b)
{
    return index_compare(a, b);
}

static bool is_in_order(const struct index *index)
{
    for (size_t i = 1; i < index->count; i++)
        if (index_compare(&index->entries[i - 1], &index->entries[i]) > 0)
            return false;
    return true;
}

/* An id covers its clock, so that equal ids are neighbours. */
static void sort_and_unite(struct index *index)
{
    if (index->count == 0)
        return;
    if (!is_in_order(index)) /* as one writer leaves it: sorting would take as much memory again */
        qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
    size_t kept = 1;
    for (size_t i = 1; i < index->count; i++) {
        if (strcmp(index->entries[i].id.text, index->entries[kept - 1].id.text) != 0)
            index->entries[kept++] = index->entries[i];
    }
    index->count = kept;
}

static void note_corrupt(struct index *index, uint32_t segment, int64_t offset, const char *problem)
{
    index->segments[segment].corrupt++;
    if (index->corrupt++ == 0)
        (void)snprintf(index->first_corrupt, sizeof index->first_corrupt,
                       "segment %s, offset %" PRId64 ": %s", index->segments[segment].name, offset,
                       problem);
}

static void add_entry(struct index *index, uint32_t segment, const struct record *record,
                      int64_t offset, size_t length)
{
    index->entries =
        vec_reserve_one(index->entries, index->count, &index->capacity, sizeof *index->entries);
    index->entries[index->count++] =
        (struct index_entry){.clock = record->clock,
                             .id = record->id,
                             .segment = segment,
                             .length = (uint32_t)length,
                             .offset = offset,
                             .is_prune = str_equal(record->kind, "prune")};
}

static void read_line(struct index *index, uint32_t segment, const struct segment_line *line)
{
    char problem[RECORD_PROBLEM_BYTES];
    struct record record;
    if (record_read(line->text, line->length, &record, problem)) {
        add_entry(index, segment, &record, line->offset, line->length);
        return;
    }
    note_corrupt(index, segment, line->offset, problem);
    const size_t skip = record_resync(line->text, line->length);
    if (skip != 0 && record_read(line->text + skip, line->length - skip, &record, problem))
        add_entry(index, segment, &record, line->offset + (int64_t)skip, line->length - skip);
}

static bool read_segment(struct index *index, uint32_t at, struct err *err)
{
    struct index_segment *segment = &index->segments[at];
    const int64_t size = os_file_size(segment->path);
    if (size < segment->seen)
        return err_set(err, ERR_CORRUPT, "the segment '%s' is shorter than it was", segment->path);
    segment->bytes = segment->seen;
    if (size == segment->seen)
        return true;

    CLEANUP(segment_reader_close) struct segment_reader reader = {0};
    if (!segment_reader_open(&reader, segment->path, segment->seen, err))
        return false;
    for (;;) {
        struct segment_line line;
        switch (segment_reader_next(&reader, &line)) {
        case LINE_END:
            return true;
        case LINE_TORN:
            segment->torn = (int64_t)line.length;
            return true;
        case LINE_FAILED:
            return err_set(err, ERR_IO, "cannot read the segment '%s'", segment->path);
        case LINE_TOO_LONG:
            note_corrupt(index, at, line.offset, "longer than any event");
            break;
        case LINE_WHOLE:
            read_line(index, at, &line);
            break;
        }
        segment->bytes = reader.offset;
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct index_segment *x = a;
    const struct index_segment *y = b;
    return strcmp(x->name, y->name);
}

/* Every segment that was seen must still be there. They are sorted by name, as they were listed. */
static bool find_seen(struct index *index, const struct journal_position *seen, size_t seen_count,
                      struct err *err)
{
    for (size_t i = 0; i < seen_count; i++) {
        const struct index_segment wanted = {.name = seen[i].segment};
        struct index_segment *found = NULL;
        if (index->segment_count != 0)
            found = bsearch(&wanted, index->segments, index->segment_count, sizeof *index->segments,
                            compare_names);
        if (!found)
            return err_set(err, ERR_CORRUPT, "the segment '%s' is gone", seen[i].segment);
        found->seen = seen[i].bytes;
    }
    return true;
}

bool index_read(const char *journal_dir, const struct journal_position *seen, size_t seen_count,
                struct index *out, struct err *err)
{
    CLEANUP(index_free) struct index index = {0};
    char **names = NULL;
    if (!segment_list(journal_dir, &index.arena, &names, &index.segment_count, err))
        return false;
    index.segments = arena_array(&index.arena, index.segment_count, sizeof *index.segments);
    for (size_t i = 0; i < index.segment_count; i++) {
        index.segments[i].name = names[i];
        index.segments[i].path = os_path_join(&index.arena, journal_dir, names[i]);
    }
    if (!find_seen(&index, seen, seen_count, err))
        return false;
    for (size_t i = 0; i < index.segment_count; i++) {
        if (!read_segment(&index, (uint32_t)i, err))
            return false;
    }
    sort_and_unite(&index);
    if (!index_drop_pruned(&index, err))
        return false;
    *out = index;
    index = (struct index){0};
    return true;
}

void index_free(struct index *index)
{
    free(index->entries);
    free(index->pruned);
    arena_free(&index->arena);
    *index = (struct index){0};
}

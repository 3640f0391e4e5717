/*
 * Merging: the union of two sets of events. Both indexes are sorted alike, so one walk along the
 * two finds what is missing. Records are copied as they stand (an id covers writer and clock), in
 * batches with one sync each; a batch that was not reached is found missing the next time.
 */
#include "journal/internal.h"

#include "base/str.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

enum { BATCH_BYTES = 1024 * 1024 };

struct merge {
    struct journal *journal;
    const struct index *mine, *theirs;
    const char *their_store;
    size_t at;   /* into mine */
    size_t next; /* into theirs: the event that is delivered next */
    struct buf batch;
    int64_t batch_count;
    struct journal_merged done;
};

static bool is_known(struct merge *merge, const struct index_entry *entry)
{
    const struct index *mine = merge->mine;
    while (merge->at < mine->count && index_compare(&mine->entries[merge->at], entry) < 0)
        merge->at++;
    return merge->at < mine->count && index_compare(&mine->entries[merge->at], entry) == 0;
}

/* A body of theirs that is damaged is left out and named. */
static bool take_body(struct merge *merge, const char *id, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct err problem;
    struct hash_id stored;
    char *data = NULL;
    size_t length = 0;
    if (store_has_file(merge->journal->store_dir, id))
        return true;
    if (!store_get(merge->their_store, id, &scratch, &data, &length, &problem)) {
        if (merge->done.missing_bodies++ == 0)
            (void)snprintf(merge->done.first_missing, sizeof merge->done.first_missing, "%.255s",
                           problem.message);
        return true;
    }
    if (!journal_store_put(merge->journal, data, length, &stored, err))
        return false;
    merge->done.bodies++;
    return true;
}

static bool flush(struct merge *merge, struct err *err)
{
    if (merge->batch_count == 0)
        return true;
    if (!journal_append_lines(merge->journal, &merge->batch, err))
        return false;
    merge->done.added += merge->batch_count;
    merge->batch_count = 0;
    buf_clear(&merge->batch);
    return true;
}

static bool take_bodies(struct merge *merge, const struct event *event, struct err *err)
{
    const struct json *fields = event->body ? event->body->first : NULL;
    for (const struct json *field = fields; field; field = field->next) {
        const char *id = store_named(event->kind, field);
        if (id && !take_body(merge, id, err))
            return false;
    }
    return true;
}

static bool merge_event(void *context, const struct event *event, struct err *err)
{
    struct merge *merge = context;
    const struct index_entry *entry = &merge->theirs->entries[merge->next++];
    if (!entry->is_prune && index_is_pruned(merge->mine, &entry->id)) {
        merge->done.pruned++;
        return true;
    }
    if (!take_bodies(merge, event, err))
        return false;
    if (is_known(merge, entry)) {
        merge->done.known++;
        return true;
    }
    if (!record_write_again(event->text, event->text_length, &merge->batch))
        BUG("journal: a batch of %zu bytes is too large", merge->batch.length);
    merge->batch_count++;
    return merge->batch.length < BATCH_BYTES || flush(merge, err);
}

static int64_t count_hidden(const struct index *mine, const struct index *theirs)
{
    int64_t hidden = 0;
    for (size_t i = 0; i < mine->count; i++)
        hidden += !mine->entries[i].is_prune && index_is_pruned(theirs, &mine->entries[i].id);
    return hidden;
}

static bool check_other(const struct journal *journal, const char *other_dir, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    char *mine = NULL;
    char *theirs = NULL;
    if (!os_path_is_dir(os_path_join(&scratch, other_dir, "journal")))
        return err_set(err, ERR_NOT_FOUND, "there is no memory at '%s'", other_dir);
    if (!os_path_real(journal->memory_dir, &scratch, &mine, err) ||
        !os_path_real(other_dir, &scratch, &theirs, err))
        return false;
    return !str_equal(mine, theirs) ||
           err_set(err, ERR_USAGE, "'%s' is this memory itself", other_dir);
}

static void describe(const struct index *theirs, struct journal_merged *out)
{
    out->corrupt_events = theirs->corrupt;
    memcpy(out->first_corrupt, theirs->first_corrupt, sizeof out->first_corrupt);
    for (size_t i = 0; i < theirs->segment_count; i++)
        out->torn_bytes += theirs->segments[i].torn;
}

bool journal_merge(struct journal *journal, const char *other_dir, struct journal_merged *out,
                   struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(index_free) struct index mine = {0};
    CLEANUP(index_free) struct index theirs = {0};
    if (!journal->is_writable)
        return err_set(err, ERR_UNSUPPORTED, "the memory '%s' is open to read only",
                       journal->memory_dir);
    if (!check_other(journal, other_dir, err) ||
        !index_read(os_path_join(&scratch, other_dir, "journal"), NULL, 0, &theirs, err) ||
        !index_read(journal->journal_dir, NULL, 0, &mine, err))
        return false;
    struct merge merge = {.journal = journal,
                          .mine = &mine,
                          .theirs = &theirs,
                          .their_store = os_path_join(&scratch, other_dir, "store")};
    describe(&theirs, &merge.done);
    merge.done.hidden = count_hidden(&mine, &theirs);
    const bool ok = index_deliver(&theirs, merge_event, &merge, err) && flush(&merge, err);
    buf_free(&merge.batch);
    if (!ok)
        return err_within(err, "merging '%s'", other_dir);
    journal_follow_clock(journal, &theirs);
    *out = merge.done;
    return true;
}

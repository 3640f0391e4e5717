#include "journal/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct body_names {
    struct hash_id *ids;
    size_t count, capacity;
    int64_t malformed;
};

static bool collect(void *context, const struct event *event, struct err *err)
{
    (void)err;
    struct body_names *names = context;
    if (!event->body) {
        names->malformed++;
        return true;
    }
    for (const struct json *field = event->body->first; field; field = field->next) {
        const char *id = store_named(event->kind, field);
        if (!id)
            continue;
        names->ids =
            vec_reserve_one(names->ids, names->count, &names->capacity, sizeof *names->ids);
        struct hash_id *copy = &names->ids[names->count++];
        (void)snprintf(copy->text, sizeof copy->text, "%s", id);
    }
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    const struct hash_id *x = a;
    const struct hash_id *y = b;
    return strcmp(x->text, y->text);
}

static int64_t count_missing(const char *store_dir, struct body_names *names)
{
    int64_t missing = 0;
    if (names->count != 0)
        qsort(names->ids, names->count, sizeof *names->ids, compare_ids);
    for (size_t i = 0; i < names->count; i++) {
        if (i != 0 && str_equal(names->ids[i].text, names->ids[i - 1].text))
            continue;
        CLEANUP(arena_free) struct arena step = {0};
        char *body = NULL;
        struct err ignored;
        if (!store_get(store_dir, names->ids[i].text, &step, &body, NULL, &ignored))
            missing++;
    }
    return missing;
}

bool journal_verify(const char *memory_dir, struct journal_recovery *recovery,
                    int64_t *missing_bodies, struct err *err)
{
    CLEANUP(journal_close) struct journal *journal = NULL;
    CLEANUP(index_free) struct index index = {0};
    struct journal_recovery found;
    struct body_names names = {0};
    if (!journal_open(memory_dir, false, &journal, NULL, err) ||
        !index_read(journal->journal_dir, NULL, 0, &index, err))
        return false;
    index_summarize(&index, &found);
    const bool ok = index_deliver(&index, collect, &names, err);
    if (ok) {
        *missing_bodies = count_missing(journal->store_dir, &names);
        found.corrupt_events += names.malformed;
        if (names.malformed != 0 && found.first_corrupt[0] == '\0')
            (void)snprintf(found.first_corrupt, sizeof found.first_corrupt,
                           "%lld events whose body is no JSON", (long long)names.malformed);
        *recovery = found;
    }
    free(names.ids);
    return ok;
}

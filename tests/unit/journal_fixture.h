/* What the tests of journal/ and graph/ share: a memory in a temporary folder, and scans of it. */
#ifndef KOPE_TESTS_JOURNAL_FIXTURE_H
#define KOPE_TESTS_JOURNAL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "journal/event.h"
#include "journal/internal.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

struct fixture {
    struct arena arena;
    char *dir;
    struct err err;
};

static inline int fixture_setup(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    *state = &fixture;
    return os_make_temp_dir("kope-journal", &fixture.arena, &fixture.dir, &fixture.err) ? 0 : -1;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    const bool ok = os_remove_tree(fixture->dir, &fixture->err);
    arena_free(&fixture->arena);
    return ok ? 0 : -1;
}

/* Fails the test with the error's own words. */
#define assert_ok(fixture, call)                                                                   \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (fixture)->err.message);                                                \
    } while (0)

static inline struct journal *open_memory(struct fixture *f, bool writable,
                                          struct journal_recovery *recovery)
{
    struct journal *journal = NULL;
    assert_ok(f, journal_open(f->dir, writable, &journal, recovery, &f->err));
    return journal;
}

static inline struct hash_id append_note(struct fixture *f, struct journal *journal,
                                         const char *text)
{
    struct buf body = {0};
    struct hash_id id = {{0}};
    event_write_note(&(struct note_event){.text = text, .about = ""}, &body);
    assert_ok(f, journal_append(journal, EVENT_NOTE, &body, &id, &f->err));
    buf_free(&body);
    return id;
}

/* The events of a memory, copied. */
enum { SEEN_MAX = 4096 };
struct seen {
    struct arena *arena;
    size_t count;
    struct hash_id ids[SEEN_MAX];
    const char *kinds[SEEN_MAX], *texts[SEEN_MAX];
    struct journal_clock clocks[SEEN_MAX];
};

static inline bool see(void *context, const struct event *event, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    if (seen->count == SEEN_MAX)
        return false;
    seen->ids[seen->count] = event->id;
    seen->kinds[seen->count] = arena_strdup(seen->arena, event->kind);
    seen->texts[seen->count] =
        arena_strdup(seen->arena, json_string(json_get(event->body, "text"), ""));
    seen->clocks[seen->count++] = (struct journal_clock){event->wall_ms, event->counter};
    return true;
}

static inline struct seen *scan_memory(struct fixture *f, struct journal *journal)
{
    struct seen *seen = arena_alloc(&f->arena, sizeof *seen);
    seen->arena = &f->arena;
    assert_ok(f, journal_scan(journal, see, seen, &f->err));
    return seen;
}

static inline bool is_seen(const struct seen *seen, const char *id)
{
    for (size_t i = 0; i < seen->count; i++) {
        if (strcmp(seen->ids[i].text, id) == 0)
            return true;
    }
    return false;
}

/* Path of the only segment. */
static inline char *only_segment(struct fixture *f)
{
    char **names = NULL;
    size_t count = 0;
    char *dir = os_path_join(&f->arena, f->dir, "journal");
    assert_ok(f, segment_list(dir, &f->arena, &names, &count, &f->err));
    assert_int_equal(count, 1);
    return os_path_join(&f->arena, dir, names[0]);
}

static inline char *read_whole(struct fixture *f, const char *path, size_t *length)
{
    char *data = NULL;
    assert_ok(f, os_read_file(path, (size_t)64 << 20, &f->arena, &data, length, &f->err));
    return data;
}

static inline void write_whole(struct fixture *f, const char *path, const void *data, size_t length)
{
    assert_ok(f, os_write_file(path, data, length, false, &f->err));
}

#endif

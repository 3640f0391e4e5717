/*
 * The n-th call that changes the disk fails, for every n until nothing fails: whatever was
 * acknowledged is there, nothing is corrupt, and the journal goes on when the disk does.
 */
#include "journal_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum fault_mode {
    FAULT_ONCE,      /* the n-th call fails */
    FAULT_FOR_EVER,  /* it and all after it */
    FAULT_HALF_WRITE /* as for ever, but a write that fails has written half before */
};

struct faults {
    atomic_int left; /* calls until the failure */
    enum fault_mode mode;
    atomic_bool has_failed;
};

/* Does this call fail? */
static bool fails(struct faults *faults, int number)
{
    const int left = atomic_fetch_sub(&faults->left, 1);
    if (left > 1 || (left < 1 && faults->mode == FAULT_ONCE))
        return false;
    atomic_store(&faults->has_failed, true);
    errno = number;
    return true;
}

static int faulty_open(void *context, const char *path, int flags, mode_t mode)
{
    return fails(context, EMFILE) ? -1 : journal_io_system.open(NULL, path, flags, mode);
}

static ssize_t faulty_write(void *context, int fd, const void *data, size_t length)
{
    struct faults *faults = context;
    if (!fails(faults, ENOSPC))
        return journal_io_system.write(NULL, fd, data, length);
    if (faults->mode == FAULT_HALF_WRITE && length > 1) {
        (void)journal_io_system.write(NULL, fd, data, length / 2);
        errno = ENOSPC;
    }
    return -1;
}

static int faulty_sync(void *context, int fd)
{
    return fails(context, EIO) ? -1 : journal_io_system.sync(NULL, fd);
}

static int faulty_truncate(void *context, int fd, off_t length)
{
    return fails(context, EIO) ? -1 : journal_io_system.truncate(NULL, fd, length);
}

static int faulty_rename(void *context, const char *from, const char *to)
{
    return fails(context, ENOSPC) ? -1 : journal_io_system.rename(NULL, from, to);
}

static int faulty_unlink(void *context, const char *path)
{
    return fails(context, EIO) ? -1 : journal_io_system.unlink(NULL, path);
}

static struct journal_io faulty_io(struct faults *faults)
{
    return (struct journal_io){.open = faulty_open,
                               .write = faulty_write,
                               .sync = faulty_sync,
                               .truncate = faulty_truncate,
                               .rename = faulty_rename,
                               .unlink = faulty_unlink,
                               .context = faults};
}

enum { STEPS = 4 };

/* What a scenario was told is safe. */
struct promised {
    struct hash_id events[STEPS], bodies[STEPS];
    size_t event_count, body_count;
    int failures;
};

static bool append(struct journal *journal, const char *text, struct hash_id *id)
{
    struct buf body = {0};
    struct err err;
    event_write_note(&(struct note_event){.text = text, .about = ""}, &body);
    const bool ok = journal_append(journal, EVENT_NOTE, &body, id, &err);
    buf_free(&body);
    return ok;
}

/* A torn end of a dead writer is there to be cut at open. */
static void leave_torn_end(struct fixture *f)
{
    assert_ok(f, os_make_dirs(os_path_join(&f->arena, f->dir, "journal"), &f->err));
    write_whole(f, arena_printf(&f->arena, "%s/journal/dead.kj", f->dir), "000000", 6);
}

static void scenario(struct fixture *f, const struct journal_io *io, struct promised *out)
{
    struct journal *journal = NULL;
    struct err err;
    if (!journal_open_with_io(f->dir, true, io, &journal, NULL, &err)) {
        out->failures++;
        return;
    }
    for (int i = 0; i < STEPS; i++) {
        char text[32];
        const int length = snprintf(text, sizeof text, "step %d", i);
        if (journal_store_put(journal, text, (size_t)length, &out->bodies[out->body_count], &err))
            out->body_count++;
        else
            out->failures++;
        if (append(journal, text, &out->events[out->event_count]))
            out->event_count++;
        else
            out->failures++;
    }
    journal_close(&journal);
}

static void check_promises(struct fixture *f, const struct promised *promised, int n)
{
    struct journal_recovery recovery;
    struct journal *journal = open_memory(f, true, &recovery);
    struct seen *seen = scan_memory(f, journal);
    struct hash_id id;
    if (recovery.corrupt_events != 0)
        fail_msg("n = %d: %s", n, recovery.first_corrupt);
    for (size_t i = 0; i < promised->event_count; i++) {
        if (!is_seen(seen, promised->events[i].text))
            fail_msg("n = %d: event %zu is lost", n, i);
    }
    for (size_t i = 0; i < promised->body_count; i++) {
        char *text = NULL;
        if (!journal_store_get(journal, promised->bodies[i].text, &f->arena, &text, NULL, &f->err))
            fail_msg("n = %d: body %zu is lost: %s", n, i, f->err.message);
    }
    assert_true(append(journal, "the disk is well again", &id));
    journal_close(&journal);
}

static void fail_each_call(struct fixture *f, enum fault_mode mode)
{
    char *parent = f->dir;
    int n = 1;
    for (;; n++) {
        struct faults faults = {.left = n, .mode = mode};
        struct promised promised = {.failures = 0};
        const struct journal_io io = faulty_io(&faults);
        f->dir = arena_printf(&f->arena, "%s/%d", parent, n);
        leave_torn_end(f);
        scenario(f, &io, &promised);
        check_promises(f, &promised, n);
        if (!atomic_load(&faults.has_failed)) {
            assert_int_equal(promised.failures, 0);
            assert_int_equal(promised.event_count, STEPS);
            break;
        }
        /* A failed cut after a failed write, and a failed unlink, are only heard of as one. */
        if (mode == FAULT_ONCE)
            assert_in_range(promised.failures, 1, 1);
    }
    f->dir = parent;
    assert_true(n > 20);
}

static void each_call_fails_once__promises_hold(void **state)
{
    fail_each_call(*state, FAULT_ONCE);
}

static void disk_fails_for_ever__promises_hold(void **state)
{
    fail_each_call(*state, FAULT_FOR_EVER);
}

static void writes_end_half_way__promises_hold(void **state)
{
    fail_each_call(*state, FAULT_HALF_WRITE);
}

enum { THREADS = 4, PER_THREAD = 20 };

struct appender {
    struct journal *journal;
    size_t count;
    struct hash_id ids[PER_THREAD];
};

static void *append_many(void *argument)
{
    struct appender *appender = argument;
    for (int i = 0; i < PER_THREAD; i++) {
        if (append(appender->journal, "from a thread", &appender->ids[appender->count]))
            appender->count++;
    }
    return NULL;
}

static void sync_fails_under_threads__the_others_go_on_in_a_new_segment(void **state)
{
    struct fixture *f = *state;
    struct faults faults = {.left = 12, .mode = FAULT_ONCE};
    struct journal_io io = journal_io_system;
    struct journal *journal = NULL;
    io.sync = faulty_sync;
    io.context = &faults;
    assert_ok(f, journal_open_with_io(f->dir, true, &io, &journal, NULL, &f->err));
    pthread_t threads[THREADS];
    struct appender *appenders = arena_array(&f->arena, THREADS, sizeof *appenders);
    for (int i = 0; i < THREADS; i++) {
        appenders[i].journal = journal;
        assert_int_equal(pthread_create(&threads[i], NULL, append_many, &appenders[i]), 0);
    }
    size_t acknowledged = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        acknowledged += appenders[i].count;
    }
    assert_true(atomic_load(&faults.has_failed));
    assert_true(acknowledged < THREADS * PER_THREAD); /* somebody was told */
    assert_true(acknowledged >= THREADS * PER_THREAD - THREADS);
    struct seen *seen = scan_memory(f, journal);
    for (int i = 0; i < THREADS; i++) {
        for (size_t n = 0; n < appenders[i].count; n++)
            assert_true(is_seen(seen, appenders[i].ids[n].text));
    }
    journal_close(&journal);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(each_call_fails_once__promises_hold),
        FIXTURE(disk_fails_for_ever__promises_hold),
        FIXTURE(writes_end_half_way__promises_hold),
        FIXTURE(sync_fails_under_threads__the_others_go_on_in_a_new_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

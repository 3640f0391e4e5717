/*
 * Journals of released formats: read for ever. Each folder of tests/golden/ is a memory and a file
 * `expect` with what is in it; ids are hashes of content, so equal ids are equal events.
 */
#include "graph_fixture.h"

#include "graph/graph.h"
#include "journal/journal.h"

#include <stdlib.h>

struct reading {
    struct buf ids;
    int64_t events;
};

static bool note_event(void *context, const struct event *event, struct err *err)
{
    struct reading *reading = context;
    (void)err;
    reading->events++;
    (void)buf_printf(&reading->ids, "%s %s\n", event->id.text, event->kind);
    return true;
}

static void golden__format_0_1__is_read_and_rebuilt(void **state)
{
    struct fixture *f = *state;
    static const char dir[] = KOPE_SOURCE_DIR "/tests/golden/0.1";
    struct journal_recovery recovery = {0};
    int64_t missing = -1;
    char *expect = NULL;
    assert_ok(f, os_read_file(KOPE_SOURCE_DIR "/tests/golden/0.1/expect", 4096, &f->arena, &expect,
                              NULL, &f->err));
    assert_ok(f, journal_verify(dir, &recovery, &missing, &f->err));
    assert_int_equal(recovery.corrupt_events, 0);
    assert_int_equal(recovery.torn_bytes, 0);
    assert_int_equal(missing, 0);

    struct journal *journal = NULL;
    struct reading reading = {0};
    assert_ok(f, journal_open(dir, false, &journal, &recovery, &f->err));
    assert_ok(f, journal_scan(journal, note_event, &reading, &f->err));
    const struct hash_id ids = hash_content(buf_text(&reading.ids), reading.ids.length);

    /* Taken in one after the other, and rebuilt: the same graph. */
    struct graph *graph = NULL;
    struct hash_id first;
    struct hash_id again;
    struct graph_stats stats;
    int64_t applied = 0;
    assert_ok(f, graph_open(":memory:", &graph, &f->err));
    assert_ok(f, graph_catch_up(graph, journal, &applied, &f->err));
    assert_ok(f, graph_digest(graph, &first, &f->err));
    assert_ok(f, graph_rebuild(graph, journal, &applied, &f->err));
    assert_ok(f, graph_digest(graph, &again, &f->err));
    assert_string_equal(first.text, again.text);
    assert_ok(f, graph_get_stats(graph, &stats, &f->err));
    const char *found = arena_printf(
        &f->arena,
        "events %lld %s\nruns %lld decisions %lld outcomes %lld contexts %lld wins %lld\n",
        (long long)reading.events, ids.text, (long long)stats.runs, (long long)stats.decisions,
        (long long)stats.outcomes, (long long)stats.contexts, (long long)stats.wins);
    assert_string_equal(found, expect);

    /* An event that no decoder takes would be in the graph with its problem. */
    const struct graph_run *runs = NULL;
    size_t count = 0;
    assert_ok(f, graph_runs(graph, 10, &f->arena, &runs, &count, &f->err));
    assert_int_equal(count, stats.runs);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(runs[i].task_dir, "/tmp/wave");
        assert_true(runs[i].has_ended);
    }
    buf_free(&reading.ids);
    graph_close(&graph);
    journal_close(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE(golden__format_0_1__is_read_and_rebuilt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

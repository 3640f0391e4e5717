/*
 * A segment of hostile bytes: read line by line, each record checked, its event decoded. The first
 * byte chooses how the rest is taken: as a segment, as the JSON of a record (whose length,
 * checksum and id are then made right), or as the body of an event.
 */
#include "journal/event.h"
#include "journal/internal.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the kind says: all decoders see every body. */
static void decode(const struct json *body)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    struct task_event task;
    struct target_event target;
    struct run_event run;
    struct run_end_event run_end;
    struct decision_event decision;
    struct context_event context;
    struct outcome_event outcome;
    struct finding_event finding;
    struct note_event note;
    CLEANUP(buf_free) struct buf again = {0};
    if (event_read_task(body, &arena, &task, &err))
        event_write_task(&task, &again);
    if (event_read_target(body, &arena, &target, &err))
        event_write_target(&target, &again);
    if (event_read_run(body, &arena, &run, &err))
        event_write_run(&run, &again);
    if (event_read_run_end(body, &arena, &run_end, &err))
        event_write_run_end(&run_end, &again);
    if (event_read_decision(body, &arena, &decision, &err))
        event_write_decision(&decision, &again);
    if (event_read_context(body, &arena, &context, &err))
        event_write_context(&context, &again);
    if (event_read_outcome(body, &arena, &outcome, &err))
        event_write_outcome(&outcome, &again);
    if (event_read_finding(body, &arena, &finding, &err))
        event_write_finding(&finding, &again);
    if (event_read_note(body, &arena, &note, &err))
        event_write_note(&note, &again);
}

static void parse_and_decode(const char *text, size_t length, const char *member)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    const struct json *value = NULL;
    if (json_parse(text, length, "fuzz", &arena, &value, &err))
        decode(member ? json_get(value, member) : value);
}

static void read_line(const char *line, size_t length)
{
    struct record record;
    char problem[RECORD_PROBLEM_BYTES];
    if (record_read(line, length, &record, problem)) {
        parse_and_decode(record.json, record.json_length, "body");
        return;
    }
    const size_t skip = record_resync(line, length);
    if (skip != 0)
        (void)record_read(line + skip, length - skip, &record, problem);
}

/* As a file on disk, through the reader that recovery uses. */
static void read_segment(const uint8_t *data, size_t size)
{
    static char path[64];
    struct err err;
    (void)snprintf(path, sizeof path, "/tmp/kope-journal-fuzz-%ld.kj", (long)getpid());
    if (!os_write_file(path, data, size, false, &err))
        abort();
    CLEANUP(segment_reader_close) struct segment_reader reader = {0};
    if (!segment_reader_open(&reader, path, 0, &err))
        abort();
    (void)unlink(path);
    for (;;) {
        struct segment_line line;
        const enum line_state state = segment_reader_next(&reader, &line);
        if (state == LINE_END || state == LINE_TORN || state == LINE_FAILED)
            return;
        if (state == LINE_WHOLE)
            read_line(line.text, line.length);
    }
}

static void read_as_json(const uint8_t *data, size_t size)
{
    CLEANUP(buf_free) struct buf line = {0};
    (void)buf_printf(&line, "%08zx %08x ", size, hash_crc32c(0, data, size));
    (void)buf_append(&line, data, size);
    read_line(line.data, line.length);
}

static void read_as_body(const uint8_t *data, size_t size)
{
    CLEANUP(buf_free) struct buf body = {0};
    CLEANUP(buf_free) struct buf line = {0};
    struct hash_id id;
    (void)buf_append(&body, data, size);
    parse_and_decode(body.data, size, NULL);
    if (memchr(body.data, '\n', size) ||
        !record_write("note", (struct journal_clock){1, 2}, "fuzz", &body, &line, &id))
        return;
    read_line(line.data, line.length - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0] % 3) {
    case 0:
        read_segment(data + 1, size - 1);
        break;
    case 1:
        read_as_json(data + 1, size - 1);
        break;
    default:
        read_as_body(data + 1, size - 1);
        break;
    }
    return 0;
}

/*
 * The record of a verdict: any text as the body of an outcome event. What is read is written again,
 * read again and written a second time: both texts are the same, whatever the first one was. A
 * verdict from a journal is shown and copied like one of the gate.
 */
#include "base/buf.h"
#include "journal/event.h"
#include "json/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_outcome(const char *text, size_t length, struct arena *arena,
                         struct outcome_event *out)
{
    struct err err;
    const struct json *value = NULL;
    return json_parse(text, length, "fuzz", arena, &value, &err) &&
           event_read_outcome(value, arena, out, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf once = {0};
    CLEANUP(buf_free) struct buf twice = {0};
    struct outcome_event first, second;
    const char *text = arena_strndup(&arena, (const char *)data, size);
    if (!read_outcome(text, size, &arena, &first))
        return 0;
    event_write_outcome(&first, &once);
    if (!read_outcome(buf_text(&once), once.length, &arena, &second))
        abort();
    event_write_outcome(&second, &twice);
    if (once.length != twice.length || memcmp(buf_text(&once), buf_text(&twice), once.length) != 0)
        abort();
    const struct verdict copy = verdict_copy(&second.verdict, &arena);
    if (copy.kind != first.verdict.kind || copy.case_count != first.verdict.case_count ||
        !*verdict_summary(&copy, &arena))
        abort();
    return 0;
}

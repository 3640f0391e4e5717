/*
 * Any bytes as the body of a reply, in each API and under any status: taken or refused, the same
 * whether they come in one piece or in two. The first three bytes choose dialect, split and status.
 */
#include "base/arena.h"
#include "base/str.h"
#include "llm/reply_reader.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_LIMIT_BYTES = 4096, OFFSET_BYTES = 3 };

static void read_all(struct reply_reader *reader, long status, const char *data, size_t length,
                     size_t split)
{
    if (reply_reader_feed(reader, status, data, split))
        (void)reply_reader_feed(reader, status, data + split, length - split);
    reply_reader_finish(reader);
}

static void check(const struct reply_reader *reader)
{
    if (reader->text.length > TEXT_LIMIT_BYTES || reader->refusal.length > TEXT_LIMIT_BYTES)
        BUG("fuzz: a text over its limit");
    if (reader->finish_reason && strlen(reader->finish_reason) > 256)
        BUG("fuzz: a long reason");
    if (reply_reader_is_whole(reader) && reader->trouble != REPLY_NO_TROUBLE)
        BUG("fuzz: whole with trouble");
    if (reader->counts.input < -1 || reader->counts.output < -1 || reader->reasoning_bound < 0 ||
        !(reader->counts.cost_usd >= -1.0))
        BUG("fuzz: a count that is none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(reply_reader_free) struct reply_reader whole;
    CLEANUP(reply_reader_free) struct reply_reader halves;
    const char *dialects[] = {"openai", "openai-responses", "anthropic", "openrouter"};
    const struct dialect *dialect = dialect_by_name(dialects[size > 0 ? data[0] % 4 : 0]);
    const long status = size > 2 && data[2] % 8 == 0 ? 400 : 200;
    reply_reader_init(&whole, dialect, TEXT_LIMIT_BYTES, &arena);
    reply_reader_init(&halves, dialect, TEXT_LIMIT_BYTES, &arena);
    if (size < OFFSET_BYTES)
        return 0;
    const char *body = (const char *)data + OFFSET_BYTES;
    const size_t length = size - OFFSET_BYTES;
    const size_t split = length == 0 ? 0 : data[1] * length / 256;
    read_all(&whole, status, body, length, length);
    read_all(&halves, status, body, length, split);
    check(&whole);
    check(&halves);
    if (whole.trouble != halves.trouble || whole.is_done != halves.is_done ||
        !str_equal(buf_text(&whole.text), buf_text(&halves.text)) ||
        whole.counts.output != halves.counts.output)
        BUG("fuzz: another reply in two pieces");
    return 0;
}

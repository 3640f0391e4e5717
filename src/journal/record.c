/*
 * A record: "llllllll cccccccc {json}", both numbers lower-case hexadecimal. The head of the JSON
 * has one form only, so it is read by hand:
 *     {"id":"<32 hex>","kind":"<name>","clock":[<ms>,<n>],"writer":"<name>","v":1,"body":{...}}
 * The id is the hash of all the JSON that follows the id's comma.
 */
#include "journal/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of '{"id":"<32 hex>",'; the id covers what follows. */
enum { ID_OFFSET = 7, ID_END = ID_OFFSET + HASH_ID_CHARS + 2 };

/* The end of the year 9999, so that a hostile clock cannot push ours over the edge. */
#define MAX_WALL_MS INT64_C(253402300799999)
#define MAX_COUNTER (INT64_C(1) << 53)

int record_compare_clock(struct journal_clock a, struct journal_clock b)
{
    if (a.wall_ms != b.wall_ms)
        return a.wall_ms < b.wall_ms ? -1 : 1;
    return (a.counter > b.counter) - (a.counter < b.counter);
}

bool record_is_clock(struct journal_clock clock)
{
    return clock.wall_ms >= 0 && clock.wall_ms <= MAX_WALL_MS && clock.counter >= 0 &&
           clock.counter <= MAX_COUNTER;
}

bool record_is_name(const char *text, size_t length)
{
    if (length == 0 || length >= RECORD_NAME_BYTES)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return true;
}

bool record_write(const char *kind, struct journal_clock clock, const char *writer,
                  const struct buf *body, struct buf *line, struct hash_id *out_id)
{
    CLEANUP(buf_free) struct buf rest = {.limit = JOURNAL_MAX_EVENT_BYTES - ID_END};
    const bool fits =
        buf_printf(&rest, "\"kind\":\"%s\",\"clock\":[%" PRId64 ",%" PRId64 "],\"writer\":\"%s\"",
                   kind, clock.wall_ms, clock.counter, writer) &&
        buf_printf(&rest, ",\"v\":%d,\"body\":", JOURNAL_VERSION) &&
        buf_append(&rest, body->data, body->length) && buf_append_char(&rest, '}');
    if (!fits)
        return false;
    *out_id = hash_content(rest.data, rest.length);

    char head[ID_END + 1];
    (void)snprintf(head, sizeof head, "{\"id\":\"%s\",", out_id->text);
    const uint32_t crc = hash_crc32c(hash_crc32c(0, head, ID_END), rest.data, rest.length);
    return buf_printf(line, "%08zx %08" PRIx32 " %s", ID_END + rest.length, crc, head) &&
           buf_append(line, rest.data, rest.length) && buf_append_char(line, '\n');
}

bool record_write_again(const char *json, size_t length, struct buf *line)
{
    return buf_printf(line, "%08zx %08" PRIx32 " ", length, hash_crc32c(0, json, length)) &&
           buf_append(line, json, length) && buf_append_char(line, '\n');
}

/* A place in a line that is read from left to right. */
struct cursor {
    const char *at, *end;
};

static bool take_text(struct cursor *cursor, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, text, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static bool take_hex(struct cursor *cursor, size_t digits, uint64_t *out)
{
    if ((size_t)(cursor->end - cursor->at) < digits)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        const char c = cursor->at[i];
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    cursor->at += digits;
    *out = value;
    return true;
}

/* Digits of a number within 0 .. `maximum`, without leading zeros. */
static bool take_int(struct cursor *cursor, int64_t maximum, int64_t *out)
{
    const char *const first = cursor->at;
    int64_t value = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        value = value * 10 + (*cursor->at - '0');
        if (value > maximum || (cursor->at != first && *first == '0'))
            return false;
        cursor->at++;
    }
    *out = value;
    return cursor->at != first;
}

static bool take_name(struct cursor *cursor, char out[RECORD_NAME_BYTES])
{
    const char *quote = memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at));
    if (!quote || !record_is_name(cursor->at, (size_t)(quote - cursor->at)))
        return false;
    memcpy(out, cursor->at, (size_t)(quote - cursor->at));
    out[quote - cursor->at] = '\0';
    cursor->at = quote + 1;
    return true;
}

static bool take_id(struct cursor *cursor, struct hash_id *out)
{
    if ((size_t)(cursor->end - cursor->at) < HASH_ID_CHARS)
        return false;
    for (size_t i = 0; i < HASH_ID_CHARS; i++) {
        const char c = cursor->at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        out->text[i] = c;
    }
    out->text[HASH_ID_CHARS] = '\0';
    cursor->at += HASH_ID_CHARS;
    return true;
}

static bool problem_set(char problem[RECORD_PROBLEM_BYTES], const char *text)
{
    (void)snprintf(problem, RECORD_PROBLEM_BYTES, "%s", text);
    return false;
}

/* The head of the JSON up to the body, and its last brace. */
static bool read_head(struct cursor *cursor, struct record *out, char problem[RECORD_PROBLEM_BYTES])
{
    int64_t version = 0;
    const bool begins =
        take_text(cursor, "{\"id\":\"") && take_id(cursor, &out->id) && take_text(cursor, "\",") &&
        take_text(cursor, "\"kind\":\"") && take_name(cursor, out->kind) &&
        take_text(cursor, ",\"clock\":[") && take_int(cursor, MAX_WALL_MS, &out->clock.wall_ms) &&
        take_text(cursor, ",") && take_int(cursor, MAX_COUNTER, &out->clock.counter) &&
        take_text(cursor, "],\"writer\":\"") && take_name(cursor, out->writer) &&
        take_text(cursor, ",\"v\":") && take_int(cursor, MAX_COUNTER, &version);
    if (!begins)
        return problem_set(problem, "no event of a known form");
    if (version != JOURNAL_VERSION) {
        (void)snprintf(problem, RECORD_PROBLEM_BYTES,
                       "format version %" PRId64 ", this program knows %d", version,
                       JOURNAL_VERSION);
        return false;
    }
    if (!take_text(cursor, ",\"body\":{") || cursor->end - cursor->at < 2 ||
        memcmp(cursor->end - 2, "}}", 2) != 0)
        return problem_set(problem, "the body is no object");
    return true;
}

bool record_read(const char *line, size_t length, struct record *out,
                 char problem[RECORD_PROBLEM_BYTES])
{
    struct cursor cursor = {.at = line, .end = line + length};
    uint64_t stated = 0;
    uint64_t stated_crc = 0;
    if (!take_hex(&cursor, 8, &stated) || !take_text(&cursor, " ") ||
        !take_hex(&cursor, 8, &stated_crc) || !take_text(&cursor, " "))
        return problem_set(problem, "no length and checksum in front");
    const size_t json_length = length - RECORD_PREFIX_BYTES;
    if (stated != json_length || json_length > JOURNAL_MAX_EVENT_BYTES) {
        (void)snprintf(problem, RECORD_PROBLEM_BYTES, "length %zu is not %" PRIu64, json_length,
                       stated);
        return false;
    }
    const uint32_t crc = hash_crc32c(0, cursor.at, json_length);
    if (crc != stated_crc) {
        (void)snprintf(problem, RECORD_PROBLEM_BYTES,
                       "checksum 0x%08" PRIx32 " is not 0x%08" PRIx64, crc, stated_crc);
        return false;
    }
    struct record record = {.json = cursor.at, .json_length = json_length};
    if (!read_head(&cursor, &record, problem))
        return false;
    const struct hash_id id = hash_content(record.json + ID_END, json_length - ID_END);
    if (memcmp(id.text, record.id.text, HASH_ID_BYTES) != 0)
        return problem_set(problem, "the id is not the hash of the content");
    *out = record;
    return true;
}

/* In JSON a quote inside a string is escaped, so this can only begin a record. Only the last one in
 * the line is tried: hostile input must not cost more than its length. */
size_t record_resync(const char *line, size_t length)
{
    static const char mark[] = " {\"id\":\"";
    const size_t mark_length = sizeof mark - 1;
    for (size_t at = length < mark_length ? 0 : length - mark_length; at > RECORD_PREFIX_BYTES;
         at--) {
        if (memcmp(line + at, mark, mark_length) == 0)
            return at + 1 - RECORD_PREFIX_BYTES;
    }
    return 0;
}

/* What cachegrind writes: misses of two simulated caches, by file and line. */
#include "profile/internal.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 16, LINE_BYTES = 64 };
/* So often for each line of cache that the data have; once is what it takes to bring them. */
#define AGAIN_RATIO 2.0
#define MOST_COUNT 1e18

enum column {
    READS,
    READ_MISSES_1,
    READ_MISSES_2,
    WRITES,
    WRITE_MISSES_1,
    WRITE_MISSES_2,
    COLUMNS
};

struct counted {
    int line;
    double accesses, misses[2];
};

struct table {
    struct counted lines[PROFILE_MAX_LINES];
    size_t count;
    int column_of[MOST_EVENTS]; /* COLUMNS: none of ours */
    size_t event_count;
    double cache_bytes[2];
    bool is_candidate; /* the file that is spoken of */
    bool has_events;
};

static double bytes_behind(const char *line, const char *name)
{
    const double value = strtod(line + strlen(name), NULL);
    return value > 0.0 && value < MOST_COUNT ? value : 0.0;
}

/* "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw" */
static void read_events(struct table *t, const char *at, const char *end)
{
    static const char *const names[COLUMNS] = {"Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"};
    t->event_count = 0;
    while (at < end && t->event_count < MOST_EVENTS) {
        at += strspn(at, " \t");
        const size_t length = strcspn(at, " \t\n");
        if (length == 0)
            break;
        int column = COLUMNS;
        for (int i = 0; i < COLUMNS; i++) {
            if (strlen(names[i]) == length && strncmp(at, names[i], length) == 0)
                column = i;
        }
        t->column_of[t->event_count++] = column;
        at += length;
    }
    t->has_events = t->event_count > 0;
}

static struct counted *line_at(struct table *t, int line)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->lines[i].line == line)
            return &t->lines[i];
    }
    if (t->count == PROFILE_MAX_LINES)
        return NULL;
    t->lines[t->count] = (struct counted){.line = line};
    return &t->lines[t->count++];
}

/* "14 5 1 1 2 0 0 1 0 0"; a count that is none makes the rest of its line nothing. */
static void read_counts(struct table *t, const char *at, const char *end, int line_count)
{
    double values[COLUMNS] = {0};
    char *next = NULL;
    const int line = source_line(strtol(at, &next, 10), line_count);
    if (line == 0)
        return;
    for (size_t i = 0; i < t->event_count && next < end; i++) {
        at = next;
        const unsigned long long value = strtoull(at, &next, 10);
        if (next == at || next > end || (double)value > MOST_COUNT)
            break;
        if (t->column_of[i] < COLUMNS)
            values[t->column_of[i]] = (double)value;
    }
    struct counted *counted = line_at(t, line);
    if (!counted)
        return;
    counted->accesses += values[READS] + values[WRITES];
    counted->misses[0] += values[READ_MISSES_1] + values[WRITE_MISSES_1];
    counted->misses[1] += values[READ_MISSES_2] + values[WRITE_MISSES_2];
}

static void read_line(struct table *t, const char *at, size_t length, int line_count)
{
    static const char first[] = "desc: D1 cache:", second[] = "desc: LL cache:";
    static const char events[] = "events:";
    if (str_starts_with(at, "fl=") || str_starts_with(at, "fi=") || str_starts_with(at, "fe="))
        t->is_candidate = source_is_candidate(at + 3, length - 3);
    else if (str_starts_with(at, first))
        t->cache_bytes[0] = bytes_behind(at, first);
    else if (str_starts_with(at, second))
        t->cache_bytes[1] = bytes_behind(at, second);
    else if (str_starts_with(at, events))
        read_events(t, at + strlen(events), at + length);
    else if (t->is_candidate && *at >= '0' && *at <= '9')
        read_counts(t, at, at + length, line_count);
}

static const char *size_text(double bytes, struct arena *arena)
{
    return bytes < 1024.0 * 1024.0 ? arena_printf(arena, "%.4g KiB", bytes / 1024.0)
                                   : arena_printf(arena, "%.4g MiB", bytes / 1024.0 / 1024.0);
}

/* Of one level; false where it is missed no more than it takes to bring the data. */
static bool say_level(const struct table *t, const struct miss_record *record, int level,
                      double *ratio, struct arena *arena, struct finding *out)
{
    static const enum finding_kind kinds[] = {FINDING_L1_MISSES, FINDING_L2_MISSES};
    static const char *const names[] = {"first", "second"};
    const struct counted *most = NULL;
    double all = 0.0;
    for (size_t i = 0; i < t->count; i++) {
        all += t->lines[i].misses[level];
        if (!most || t->lines[i].misses[level] > most->misses[level])
            most = &t->lines[i];
    }
    *ratio = all / (record->bytes / LINE_BYTES);
    if (!most || record->bytes <= t->cache_bytes[level] || !(*ratio >= AGAIN_RATIO))
        return false;
    const double accesses = most->accesses > 0.0 ? most->accesses : 1.0;
    *out = (struct finding){
        .kind = kinds[level],
        .tool = record->tool,
        .line = most->line,
        .number = *ratio,
        .text = arena_printf(
            arena,
            "at %s a %s cache of %s is missed %.3g times, %.3g times as often as "
            "the data have lines of cache; %.0f %% of it at line %d, in %.2g %% of "
            "its accesses",
            record->shape, names[level], size_text(t->cache_bytes[level], arena), all, *ratio,
            100.0 * most->misses[level] / all, most->line, 100.0 * most->misses[level] / accesses)};
    return true;
}

bool profile_read_misses(const struct miss_record *record, struct arena *arena, struct finding *out,
                         size_t capacity, size_t *out_count, double *again, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct table *t = arena_alloc(&scratch, sizeof *t);
    size_t count = 0;
    double ratios[2] = {0};
    for (const char *at = record->text; *at;) {
        const size_t length = strcspn(at, "\n");
        read_line(t, at, length, record->line_count);
        at += length + (at[length] == '\n');
    }
    if (!t->has_events || t->count == 0 || !(record->bytes > 0.0))
        return err_set(err, ERR_BAD_INPUT, "there are no counts of a line of the candidate in it");
    for (int level = 0; level < 2 && count < capacity; level++)
        count += say_level(t, record, level, &ratios[level], arena, &out[count]);
    *out_count = count;
    *again = ratios[0];
    return true;
}

static bool is_in(const struct loop *loop, int line)
{
    return line == 0 || loop->line == 0 || (line >= loop->first_line && line <= loop->last_line);
}

size_t profile_drop_front_end(struct finding *findings, size_t count, const struct loop *hot)
{
    bool waits = false;
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        waits |= findings[i].kind == FINDING_L1_MISSES && is_in(hot, findings[i].line);
    for (size_t i = 0; i < count; i++) {
        if (!waits || findings[i].kind != FINDING_FRONT_END)
            findings[left++] = findings[i];
    }
    return left;
}

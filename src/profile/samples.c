/* Where the time goes by samples: lines, loops, functions that are called. */
#include "profile/internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "stats/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 3, MOST_NAME_BYTES = 60 };
#define CONFIDENCE 0.95
/* What is certain, at the lower end of its interval, from which on it is a finding. */
#define HOT_SHARE 0.25
#define CALLED_SHARE 0.2
#define LOOP_SHARE 0.15

static int by_offset(const void *a, const void *b)
{
    const struct sample_place *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The line of "/tmp/x/candidate.c:12 (discriminator 3)"; 0 where it is of no such file. */
static int line_of(const char *at, size_t length, int line_count)
{
    const char *colon = NULL;
    for (size_t i = 0; i < length; i++)
        colon = at[i] == ':' ? at + i : colon;
    if (!colon || !source_is_candidate(at, (size_t)(colon - at)))
        return 0;
    return source_line(strtol(colon + 1, NULL, 10), line_count);
}

static int by_hits(const void *a, const void *b)
{
    const struct line_hits *x = a, *y = b;
    if (x->hits != y->hits)
        return x->hits > y->hits ? -1 : 1;
    return x->line - y->line;
}

static void add_hits(struct line_hits *lines, size_t *count, size_t capacity, int line,
                     int64_t hits)
{
    for (size_t i = 0; i < *count; i++) {
        if (lines[i].line == line) {
            lines[i].hits += hits;
            return;
        }
    }
    if (*count < capacity)
        lines[(*count)++] = (struct line_hits){line, hits};
}

size_t profile_read_lines(const char *text, const struct sample_place *places, size_t place_count,
                          int line_count, struct arena *arena, struct line_hits *out,
                          size_t capacity)
{
    bool *is_taken = arena_array(arena, place_count + 1, sizeof *is_taken);
    const struct sample_place *place = NULL; /* the one that is spoken of, until it has its line */
    size_t count = 0;
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, "\n");
        if (str_starts_with(at, "0x")) {
            const struct sample_place key = {.offset = strtoull(at, NULL, 16)};
            place = place_count ? bsearch(&key, places, place_count, sizeof key, by_offset) : NULL;
            if (place && is_taken[place - places])
                place = NULL;
        } else if (place) {
            const int line = line_of(at, length, line_count);
            if (line != 0) {
                add_hits(out, &count, capacity, line, place->hits);
                is_taken[place - places] = true;
                place = NULL;
            }
        }
        at += length + (at[length] == '\n');
    }
    if (count)
        qsort(out, count, sizeof *out, by_hits);
    return count;
}

static bool has_line(const struct loop *loop, int line)
{
    for (size_t i = 0; i < loop->count; i++) {
        if (loop->items[i].line == line)
            return true;
    }
    return false;
}

bool profile_weigh_loops(struct loop *loops, size_t loop_count, const struct line_hits *lines,
                         size_t line_count)
{
    int64_t most = 0;
    for (size_t i = 0; i < line_count; i++) {
        for (size_t k = 0; k < loop_count; k++) {
            if (has_line(&loops[k], lines[i].line)) {
                loops[k].hits += lines[i].hits;
                most = loops[k].hits > most ? loops[k].hits : most;
                break;
            }
        }
    }
    if (most < PROFILE_FEWEST_HITS)
        return false;
    for (size_t i = 1; i < loop_count; i++) {
        const struct loop loop = loops[i];
        size_t k = i;
        for (; k > 0 && loops[k - 1].hits < loop.hits; k--)
            loops[k] = loops[k - 1];
        loops[k] = loop;
    }
    return true;
}

/* "62 % [59, 65]" */
static const char *share_text(const struct stats_interval *share, struct arena *arena)
{
    return arena_printf(arena, "%.0f %% [%.0f, %.0f]", 100.0 * share->mid, 100.0 * share->low,
                        100.0 * share->high);
}

struct saying {
    const struct sampled *sampled;
    struct arena *arena;
    struct finding *out;
    size_t count, capacity;
    int64_t total;
};

static struct stats_interval share_of(const struct saying *s, int64_t hits)
{
    return stats_share(hits, s->total, CONFIDENCE);
}

static void add(struct saying *s, enum finding_kind kind, int line, double number, const char *text)
{
    if (s->count < s->capacity)
        s->out[s->count++] = (struct finding){
            .kind = kind, .tool = s->sampled->tool, .text = text, .number = number, .line = line};
}

/* The first line, and those that follow it. */
static void say_lines(struct saying *s)
{
    const struct line_hits *lines = s->sampled->lines;
    const char *text = "";
    if (s->sampled->line_count == 0 || lines[0].hits < PROFILE_FEWEST_HITS)
        return;
    const struct stats_interval first = share_of(s, lines[0].hits);
    if (first.low < HOT_SHARE)
        return;
    for (size_t i = 0; i < s->sampled->line_count && i < MOST_SHOWN; i++) {
        const struct stats_interval share = share_of(s, lines[i].hits);
        if (lines[i].hits < PROFILE_FEWEST_HITS)
            break;
        text = i == 0 ? arena_printf(s->arena, "line %d takes %s of the time", lines[i].line,
                                     share_text(&share, s->arena))
                      : arena_printf(s->arena, "%s, line %d %s", text, lines[i].line,
                                     share_text(&share, s->arena));
    }
    add(s, FINDING_HOT_LINE, lines[0].line, first.mid, text);
}

static void say_loops(struct saying *s)
{
    const char *text = "";
    size_t count = 0;
    for (size_t i = 0; i < s->sampled->loop_count; i++) {
        const struct loop *loop = &s->sampled->loops[i];
        const struct stats_interval share = share_of(s, loop->hits);
        if (loop->hits < PROFILE_FEWEST_HITS || share.low < LOOP_SHARE || loop->line == 0)
            continue;
        text = arena_printf(s->arena, "%s%s%s in %s", text, count++ ? ", " : "",
                            share_text(&share, s->arena), loop_name(loop, s->arena));
    }
    if (count > 1)
        add(s, FINDING_PASSES, s->sampled->loops[0].line, (double)count,
            arena_printf(s->arena, "%zu loops share the time: %s", count, text));
}

static void say_calls(struct saying *s)
{
    const struct session_samples *samples = s->sampled->samples;
    const struct stats_interval share = share_of(s, samples->called);
    if (samples->called < PROFILE_FEWEST_HITS || share.low < CALLED_SHARE ||
        samples->function_count == 0)
        return;
    const char *name = samples->functions[0].name;
    char *shown =
        arena_strndup(s->arena, name, str_cut_length(name, strcspn(name, "\n"), MOST_NAME_BYTES));
    str_make_printable(shown);
    add(s, FINDING_CALLS, 0, share.mid,
        arena_printf(s->arena, "functions that it calls take %s of the time, %s most of it",
                     share_text(&share, s->arena), shown));
}

const char *profile_doubt_samples(const struct session_samples *samples, struct arena *arena)
{
    const int64_t kept = samples->inside + samples->called;
    if ((double)samples->lost > PROFILE_LOST_SHARE * (double)(kept + samples->lost))
        return arena_printf(arena,
                            "%" PRId64 " samples were lost beside %" PRId64
                            " that were kept: where the time of those went nobody knows",
                            samples->lost, kept);
    if (kept < PROFILE_FEWEST_SAMPLES)
        return arena_printf(arena, "%" PRId64 " samples are too few to say where the time goes",
                            kept);
    return NULL;
}

size_t profile_read_samples(const struct sampled *sampled, struct arena *arena, struct finding *out,
                            size_t capacity)
{
    struct saying s = {.sampled = sampled,
                       .arena = arena,
                       .out = out,
                       .capacity = capacity,
                       .total = sampled->samples->inside + sampled->samples->called};
    if (profile_doubt_samples(sampled->samples, arena))
        return 0;
    say_lines(&s);
    say_loops(&s);
    say_calls(&s);
    return s.count;
}

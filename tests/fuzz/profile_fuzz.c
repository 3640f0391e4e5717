/*
 * Any bytes as what tools wrote: a compiler's record (gcc's lines, clang's documents), assembly,
 * llvm-mca's report, addr2line's lines and cachegrind's file, divided at NUL bytes. Read or
 * refused, never a crash, and what comes out is a finding: a kind that has a name, a number, a line
 * that is none or one, a sentence.
 */
#include "profile/read.h"

#include "base/err.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 6, PARTS = 5, MOST_BYTES = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct finding *found, size_t count)
{
    if (count > MOST)
        BUG("fuzz: %zu findings where %d fit", count, MOST);
    for (size_t i = 0; i < count; i++) {
        if (found[i].kind >= FINDING_KINDS || !isfinite(found[i].number) || found[i].line < 0 ||
            found[i].text[0] == '\0' || strchr(found[i].text, '\n'))
            BUG("fuzz: a finding that is none");
    }
}

static void check_loops(const struct loop *loops, size_t count, const char *report,
                        struct arena *arena)
{
    struct finding found[MOST];
    struct err err;
    for (size_t i = 0; i < count; i++) {
        size_t known = 0;
        if (loops[i].count == 0 || (loops[i].line != 0 && loops[i].line < loops[i].first_line))
            BUG("fuzz: a loop that is none");
        check(found, profile_read_loop(&loops[i], "gcc", 64, arena, found, MOST));
        (void)loop_block(&loops[i], arena);
        if (profile_read_mca(report, "llvm-mca", &loops[i], arena, found, MOST, &known, &err))
            check(found, known);
    }
}

/* Places at the first sixteen addresses, all seen so often. */
static void check_samples(const char *text, struct loop *loops, size_t count, struct arena *arena)
{
    enum { PLACES = 16, HITS = 50, MOST_LINES = 8 };
    struct sample_place places[PLACES];
    struct line_hits lines[MOST_LINES];
    struct finding found[MOST];
    int64_t hits = 0;
    for (size_t i = 0; i < PLACES; i++)
        places[i] = (struct sample_place){i, HITS};
    const size_t known = profile_read_lines(text, places, PLACES, 0, arena, lines, MOST_LINES);
    for (size_t i = 0; i < known; i++) {
        hits += lines[i].hits;
        if (lines[i].line <= 0 || (i > 0 && lines[i].hits > lines[i - 1].hits))
            BUG("fuzz: lines that are none, or in no order");
    }
    if (hits > PLACES * HITS)
        BUG("fuzz: more hits than samples");
    (void)profile_weigh_loops(loops, count, lines, known);
    const struct session_samples samples = {.inside = PLACES * HITS};
    const struct sampled sampled = {.tool = "t",
                                    .samples = &samples,
                                    .lines = lines,
                                    .line_count = known,
                                    .loops = loops,
                                    .loop_count = count};
    check(found, profile_read_samples(&sampled, arena, found, MOST));
}

static void check_misses(const char *text, struct arena *arena)
{
    struct finding found[MOST];
    struct err err;
    size_t known = 0;
    double again = 0.0;
    const struct miss_record record = {.text = text, .tool = "t", .shape = "n=1", .bytes = 1e6};
    if (!profile_read_misses(&record, arena, found, MOST, &known, &again, &err))
        return;
    check(found, known);
    if (!isfinite(again))
        BUG("fuzz: a ratio that is none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *parts[PARTS] = {"", "", "", "", ""};
    struct loop loops[MOST];
    struct finding found[MOST];
    struct err err;
    size_t known = 0;
    size_t at = 0;
    if (size > MOST_BYTES)
        return 0;
    for (size_t i = 0; i < PARTS && at < size; i++) {
        parts[i] = arena_strndup(&arena, (const char *)data + at, size - at);
        at += strlen(parts[i]) + 1;
    }
    const size_t count = profile_find_loops(parts[1], 0, &arena, loops, MOST);
    const struct record record = {
        .text = parts[0], .tool = "cc", .loops = loops, .loop_count = count, .lanes = 8};
    check(found, profile_read_gcc(&record, &arena, found, MOST));
    if (profile_read_clang(&record, &arena, found, MOST, &known, &err))
        check(found, known);
    check_loops(loops, count, parts[2], &arena);
    check_samples(parts[3], loops, count, &arena);
    check_misses(parts[4], &arena);
    return 0;
}

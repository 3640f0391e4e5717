/* Reasons for which loops are not vectorized, in the words of gcc and clang, as kinds. */
#include "profile/internal.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_REASON_BYTES = 120, MOST_SEEN = 2000 };
/* A loop of single elements beside a hot loop of vectors counts from this share of its weight on.
 */
#define REST_SHARE 0.25

/* The first that is in the text. */
static const struct {
    const char *words;
    enum finding_kind kind;
} reasons[] = {
    {"reorder floating-point", FINDING_SUM_ORDER},
    {"unsafe fp math", FINDING_SUM_ORDER},
    {"could not be identified as reduction", FINDING_REDUCTION},
    {"unsupported use", FINDING_REDUCTION},
    {"reduction", FINDING_REDUCTION},
    {"reorder memory operations", FINDING_ALIASING},
    {"cannot identify array bounds", FINDING_ALIASING},
    {"alias", FINDING_ALIASING},
    {"call instruction", FINDING_CALLS},
    {"function is not vectorizable", FINDING_CALLS},
    {"clobbers memory", FINDING_CALLS},
    {"number of iterations", FINDING_TRIP_COUNT},
    {"number of loop iterations", FINDING_TRIP_COUNT},
    {"induction variable", FINDING_TRIP_COUNT},
    {"control flow", FINDING_CONTROL_FLOW},
    {"multiple exits", FINDING_CONTROL_FLOW},
    {"latch block", FINDING_CONTROL_FLOW},
    {"gather", FINDING_STRIDE},
    {"scatter", FINDING_STRIDE},
    {"stride", FINDING_STRIDE},
    {"not consecutive", FINDING_STRIDE},
    {"dependen", FINDING_DEPENDENCE},
    {"not profitable", FINDING_COST},
    {"not beneficial", FINDING_COST},
    {"cost model", FINDING_COST},
    {"cost-model", FINDING_COST},
};

static enum finding_kind kind_of(const char *reason)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (strstr(reason, reasons[i].words))
            return reasons[i].kind;
    }
    return FINDING_NOT_VECTORIZED;
}

/* The heaviest loop that has this line; the number of loops where none has. */
static size_t rank_of(const struct record *record, int line)
{
    for (size_t i = 0; i < record->loop_count; i++) {
        const struct loop *loop = &record->loops[i];
        for (size_t k = 0; k < loop->count; k++) {
            if (loop->items[k].line == line)
                return i;
        }
    }
    return record->loop_count;
}

/* Not an outer loop, not one that was written in vectors, not the short rest beside one. */
static bool matters(const struct record *record, size_t rank)
{
    if (rank == record->loop_count || record->loops[rank].is_vector)
        return false;
    return !record->loops[0].is_vector ||
           record->loops[rank].weight >= REST_SHARE * record->loops[0].weight;
}

/* In the compiler's words, without what it repeats and without what cannot be shown. */
static const char *words_of(const char *reason, struct arena *arena)
{
    static const char *const openings[] = {"loop not vectorized: ", "not vectorized: "};
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        if (str_starts_with(reason, openings[i]))
            reason += strlen(openings[i]);
    }
    size_t length = strcspn(reason, "\n");
    const char *end = strstr(reason, ". ");
    if (end && (size_t)(end - reason) < length)
        length = (size_t)(end - reason);
    while (length > 0 && strchr(" .;", reason[length - 1]))
        length--;
    char *words = arena_strndup(arena, reason, str_cut_length(reason, length, MOST_REASON_BYTES));
    str_make_printable(words);
    return words;
}

static struct finding finding_of(const struct missed *m, int line, enum finding_kind kind,
                                 const char *reason)
{
    const struct record *record = m->record;
    const char *words = words_of(reason, m->arena);
    const char *room = record->lanes > 1
                           ? arena_printf(m->arena, ", where a register has room for %d elements",
                                          (int)record->lanes)
                           : "";
    return (struct finding){.kind = kind,
                            .tool = record->tool,
                            .line = line,
                            .number = (double)record->lanes,
                            .text = arena_printf(m->arena,
                                                 "the loop at line %d is not vectorized%s%s%s",
                                                 line, room, words[0] ? ": " : "", words)};
}

void missed_add(struct missed *m, int line, const char *reason)
{
    const enum finding_kind kind = kind_of(reason);
    if (source_line(line, m->record->line_count) == 0 || ++m->seen > MOST_SEEN)
        return;
    const size_t rank = rank_of(m->record, line);
    if (m->record->loop_count != 0 && !matters(m->record, rank))
        return;
    for (size_t i = 0; i < m->count; i++) {
        if (m->out[i].line != line)
            continue;
        if (m->out[i].kind == FINDING_NOT_VECTORIZED && kind != FINDING_NOT_VECTORIZED)
            m->out[i] = finding_of(m, line, kind, reason);
        return;
    }
    if (m->count == m->capacity || m->count == PROFILE_MAX_LOOPS)
        return;
    m->ranks[m->count] = rank;
    m->out[m->count++] = finding_of(m, line, kind, reason);
}

void missed_sort(struct missed *m)
{
    for (size_t i = 1; i < m->count; i++) {
        const struct finding finding = m->out[i];
        const size_t rank = m->ranks[i];
        size_t k = i;
        for (; k > 0 && m->ranks[k - 1] > rank; k--) {
            m->out[k] = m->out[k - 1];
            m->ranks[k] = m->ranks[k - 1];
        }
        m->out[k] = finding;
        m->ranks[k] = rank;
    }
}

static const char candidate_prefix[] = CANDIDATE_FILE ":";

/* "candidate.c:12:5: missed: TEXT": its line and what it says; false for any other line. */
static bool read_note(const char *line, long *number, const char **text)
{
    static const char missed[] = "missed: ";
    char *end = NULL;
    if (!str_starts_with(line, candidate_prefix))
        return false;
    *number = strtol(line + strlen(candidate_prefix), &end, 10);
    const char *at = *end == ':' ? strstr(end, missed) : NULL;
    *text = at ? at + strlen(missed) : "";
    return at && source_line(*number, 0) != 0;
}

/* gcc says first that a loop is not vectorized, then why; what follows is about blocks. */
size_t profile_read_gcc(const struct record *record, struct arena *arena, struct finding *out,
                        size_t capacity)
{
    static const char opening[] = "couldn't vectorize loop";
    struct missed m = {.record = record, .arena = arena, .out = out, .capacity = capacity};
    int pending = 0; /* the line of a loop whose reason is to come */
    for (const char *at = record->text; *at;) {
        const size_t length = strcspn(at, "\n");
        const char *line = arena_strndup(arena, at, length);
        const char *text = "";
        long number = 0;
        at += length + (at[length] == '\n');
        if (!read_note(line, &number, &text))
            continue;
        const bool is_opening = str_starts_with(text, opening);
        if (pending != 0)
            missed_add(&m, pending, is_opening ? "" : text);
        pending = is_opening ? (int)number : 0;
    }
    if (pending != 0)
        missed_add(&m, pending, "");
    missed_sort(&m);
    return m.count;
}
